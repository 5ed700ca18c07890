"""A person whom Claude Code asks whether a tool may run, as an MCP server: says no, and what stands in argument 1."""

import json
import sys


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            answer = {"jsonrpc": "2.0", "id": asked["id"], "result": result(asked["method"], asked.get("params") or {})}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def result(method: str, params: dict[str, object]) -> dict[str, object]:
    if method == "initialize":
        about = {"name": "person", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [{"name": "ask", "description": "Asks.", "inputSchema": {"type": "object", "properties": {}}}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": json.dumps({"behavior": "deny", "message": sys.argv[1]})}]}
    return {}


if __name__ == "__main__":
    main()
