"""What a call of a tool does, by the tool's name and its arguments, whichever client names them how.

The names are those of Gemini CLI, OpenCode, Copilot, Cursor, Cline, Roo and VS Code, without capitals and signs. A tool
that is not among them (of an MCP server) is `other`; its command, paths and edits still come out where its arguments
have the usual names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from backstory.sources.transcripts import patches
from backstory.sources.transcripts.fields import Record, first, record, records, text
from backstory.sources.transcripts.own import is_own_command, is_own_tool
from backstory.sources.transcripts.stream import (
    AGENT,
    EDIT,
    FETCH,
    MEMORY,
    OTHER,
    PLAN,
    READ,
    SEARCH,
    SHELL,
    Call,
    Edit,
    Item,
)  # fmt: skip
from backstory.sources.transcripts.whole import Broken, from_bytes

_NAMES = {
    SHELL: "bash shell powershell runshellcommand runterminalcmd runterminalcommand runterminalcommandv2 runinterminal"
    " executecommand shellcommand runcommand runcommands localshell runtests terminal",
    READ: "read readfile readmanyfiles readfiles readfilev2 view viewimage cat getfile notebookread readlints",
    SEARCH: "grep glob ls list listdirectory listfiles listdir searchfiles searchfilecontent codebasesearch search"
    " grepsearch filesearch globfilesearch ripgrep ripgreprawsearch rg semanticsearch findtextinfiles findfiles"
    " listcodedefinitionnames searchcodebase semsearch listcodeusages lsp",
    EDIT: "edit write replace writefile writetofile strreplace strreplaceeditor replaceinfile applydiff applypatch"
    " patch multiedit create createfile editfile editfilev2 searchreplace searchandreplace insertcontent insert"
    " insertedit inserteditintofile replacestringinfile multireplacestringinfile deletefile delete editnotebook"
    " notebookedit editnotebookfile editor",
    FETCH: "webfetch websearch fetch googlewebsearch browseraction fetchwebpage urlfetch fetchurl fetchwebcontent",
    AGENT: "task taskv2 agent newtask subagent usesubagents runsubagent delegatetoagent spawnagent switchmode",
    PLAN: "todowrite todoread updatetodolist todo todos writetodos planmoderespond exitplanmode enterplanmode"
    " createplan updateplan managetodolist updatetopic reportintent focuschain sqltodo",
    MEMORY: "savememory updatememory memory storememory creatememory",
}
_DOES = {name: does for does, names in _NAMES.items() for name in names.split()}
_PATHS = (
    "file_path", "filePath", "path", "target_file", "targetFile", "absolute_path", "relative_workspace_path",
    "relativeWorkspacePath", "effectiveUri", "filename", "notebook_path", "target_notebook", "dir_path", "filepath",
    "target_directory", "dirPath", "uri",
)  # fmt: skip
_OLD = ("old_string", "oldString", "old_str", "oldStr", "old_text", "oldText", "search", "old_content")
_NEW = ("new_string", "newString", "new_str", "newStr", "new_text", "newText", "replace", "new_content", "newCode")
_WHOLE = ("content", "contents", "file_text", "fileText", "newContent", "new_source", "streamingContent")
_PATCH = ("input", "patch", "patchText", "patch_text", "diff", "command")
_SEVERAL = ("edits", "replacements", "changes")
_WORDS = ("pattern", "query", "regex", "url", "search_term", "searchTerm", "prompt", "task", "message", "glob_pattern")
_FOLDERS = ("cwd", "workdir", "working_directory", "workingDirectory", "directory", "dir_path")
# The server of a tool, where a client calls all of them through one.
_SERVERS = ("server_name", "serverName", "server")
_DELETES = {"deletefile", "delete"}
_MOST_PATHS = 50


def called(offset: int, at: int | None, call: str, tool: str, arguments: object) -> Iterator[Item]:
    """The call, then the edits that it asks for. `arguments` is an object, or its JSON, or a patch as plain text."""
    args = opened(arguments)
    name = re.sub(r"[^a-z]", "", tool.lower())
    does = _DOES.get(name, OTHER)
    if does == EDIT and args.get("command") == "view":
        does = READ
    command = _command(args) if does == SHELL else ""
    if is_own_tool(tool) or is_own_tool(first(args, *_SERVERS)) or is_own_command(command):
        does = MEMORY
    edits = list(_edits(offset, at, call, name, args)) if does in (EDIT, OTHER) else []
    yield Call(
        offset,
        at,
        call,
        tool,
        does,
        command=command,
        paths=_paths(args, edits) if does not in (SHELL, FETCH, AGENT, PLAN) else (),
        cwd=first(args, *_FOLDERS) if command else "",
        words=first(args, *_WORDS) if does in (SEARCH, FETCH, AGENT, OTHER, MEMORY) else "",
    )
    yield from edits


def does_what(tool: str) -> str:
    """What a tool of this name does."""
    return _DOES.get(re.sub(r"[^a-z]", "", tool.lower()), OTHER)


def opened(arguments: object) -> Record:
    """The arguments as an object; a plain text stands in it as `input`."""
    if not isinstance(arguments, str):
        return record(arguments)
    try:
        found = from_bytes(arguments)
    except Broken:
        found = None
    return found if isinstance(found, dict) else {"input": arguments}


def _command(args: Record) -> str:
    found = args.get("command") or args.get("cmd") or args.get("commands") or args.get("input")
    if isinstance(found, list):
        lines = (text(each) or first(record(each), "command", "cmd") for each in found)
        return ("\n" if "commands" in args else " ").join(line for line in lines if line)
    return text(found)


def _paths(args: Record, edits: list[Edit]) -> tuple[str, ...]:
    found = [path] if (path := first(args, *_PATHS)) else []
    for name in ("paths", "files", "filePaths", "file_paths", "include"):
        several = args.get(name)
        if isinstance(several, list):
            found += [text(each) or first(record(each), *_PATHS) for each in several]
    found += [edit.path for edit in edits]
    return tuple(dict.fromkeys(path for path in found if path))[:_MOST_PATHS]


def _edits(offset: int, at: int | None, call: str, name: str, args: Record) -> Iterator[Edit]:
    patch = next((found for key in _PATCH if "*** Begin Patch" in (found := text(args.get(key)))), "")
    if patch:
        for change in patches.files(patch):
            new = change.old is None and not change.gone
            yield Edit(offset, at, call, change.path, change.old, change.new, new, change.gone, change.moved)
        return
    path = first(args, *_PATHS)
    parts = next((several for key in _SEVERAL if (several := records(args.get(key)))), [args])
    for part in parts:
        yield from _edits_of(offset, at, call, first(part, *_PATHS) or path, part)
    if path and name in _DELETES:
        yield Edit(offset, at, call, path, None, "", gone=True)
    # Roo's newer form: one call, several files, each with its diffs.
    for file in records(record(args.get("args")).get("file")):
        for each in records(file.get("diff")):
            yield from _blocks(offset, at, call, first(file, *_PATHS), text(each.get("content")))


def _edits_of(offset: int, at: int | None, call: str, path: str, args: Record) -> Iterator[Edit]:
    if not path:
        return
    new = next((args[key] for key in _NEW if isinstance(args.get(key), str)), None)
    if new is not None:
        old = next((args[key] for key in _OLD if isinstance(args.get(key), str)), None)
        yield Edit(offset, at, call, path, old, new, whole=old == "")
        return
    if diff := text(args.get("diff")):
        yield from _blocks(offset, at, call, path, diff)
        return
    for key in _WHOLE:
        if isinstance(args.get(key), str):
            yield Edit(offset, at, call, path, None, args[key], whole=True)
            return
    # A sketch with `... existing code ...` in it: what it leaves of the file is not said.
    if sketch := first(args, "code_edit", "codeEdit", "code"):
        yield Edit(offset, at, call, path, None, sketch)


def _blocks(offset: int, at: int | None, call: str, path: str, diff: str) -> Iterator[Edit]:
    for block in patches.blocks(diff.split("\n")):
        yield Edit(offset, at, call, path, block.old, block.new, whole=block.old == "")
