// backstory: written by `backstory install opencode`; `backstory uninstall opencode` removes it.
import { spawn } from "node:child_process"

const COMMAND = ["backstory-hook", "opencode"]
const TIMEOUT = 5000

// What the memory has to say at an event; "" when it has nothing, is not there or is too slow.
const ask = (event, body) =>
  new Promise((done) => {
    let out = ""
    const read = () => {
      try {
        const text = JSON.parse(out).context
        return typeof text === "string" ? text : ""
      } catch {
        return ""
      }
    }
    try {
      const child = spawn(COMMAND[0], [...COMMAND.slice(1), event], {
        stdio: ["pipe", "pipe", "ignore"],
        timeout: TIMEOUT,
        windowsHide: true,
      })
      child.on("error", () => done(""))
      child.on("close", () => done(read()))
      child.stdout.on("data", (part) => (out += part))
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...body }))
    } catch {
      done("")
    }
  })

export const Backstory = async ({ directory }) => {
  // Asked once a session: a system prompt that stays the same keeps the model's cache.
  const briefs = new Map()
  const calls = new Map()
  return {
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      const key = sessionID ?? ""
      if (!briefs.has(key))
        briefs.set(key, ask("experimental.chat.system.transform", { session_id: key, cwd: directory }))
      const text = await briefs.get(key)
      if (text) system.push(text)
    },
    "tool.execute.before": async ({ callID }, { args }) => {
      calls.set(callID, args)
    },
    "tool.execute.after": async ({ tool, sessionID, callID }, output) => {
      const input = calls.get(callID)
      calls.delete(callID)
      const body = { session_id: sessionID, cwd: directory, tool_name: tool, tool_input: input }
      const text = await ask("tool.execute.after", body)
      if (text && typeof output.output === "string") output.output += `\n\n${text}`
    },
    "experimental.session.compacting": async ({ sessionID }, { context }) => {
      const text = await ask("experimental.session.compacting", { session_id: sessionID, cwd: directory })
      if (text) context.push(text)
    },
  }
}
