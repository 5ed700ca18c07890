"""Failures that tell of the machine and not of the project: a network that is down, a port in use, a full disk.

What was installed, freed or tried again is no knowledge about the project, so no detector makes a candidate of it.
"""

from __future__ import annotations

import re

from backstory.project.capture.story import Ran

_FLAKE = re.compile(
    r"(?i)not recognized as an internal"
    r"|could not resolve host|temporary failure in name resolution|network is unreachable|getaddrinfo|\benotfound"
    r"|\beconnre"
    r"|connection (?:refused|reset|timed? ?out|aborted)|failed to connect|couldn't connect|fetch failed"
    r"|socket hang up"
    r"|address already in use|\beaddrinuse|port \d+ is (?:already )?(?:in use|allocated)"
    r"|permission denied|\beacces|operation not permitted|\beperm\b|a terminal is required|a password is required"
    r"|no space left|\benospc|disk quota|out of memory|cannot allocate memory|killed\b|rate.?limit|too many requests"
    r"|timed? ?out\b|timeout\b.*exceeded|\b(?:429|50[234]) \w|unable to locate package|no such device|resource busy"
    r"|executable doesn't exist|unable to access|authentication failed|unauthori[sz]ed|\b40[13] \w|not logged in"
    r"|could not read from remote|host key verification|index\.lock|eof when reading a line|resource temporarily"
    # The client did not run it: nobody was there to allow it, or a rule forbade it.
    r"|requires? (?:approval|permission)|haven't granted|was blocked|blocked by|not allowed in|operation was aborted"
)
# What is not there may be a machine that lacks it, or a line of the project that asks for it.
_MISSING = re.compile(
    r"(?i)command not found|no module named|modulenotfounderror|cannot find (?:module|package)|please install"
    r"|is not installed|could not find a version"
)
# Programs whose failures tell that something is not there yet, or is of the machine.
_LOOKS = frozenset(
    "ls cat head tail cd mkdir cp mv rm rmdir touch chmod chown ln echo sleep find grep rg wc stat file which pwd sed"
    " awk curl wget ping ssh scp rsync nc dig kill pkill killall lsof ps df du free systemctl journalctl sudo apt brew"
    " apt-get dnf yum pacman docker sqlite3 psql mysql gh open xdg-open code tree less more cut sort uniq diff test ["
    " read tee".split()
)
_INSTALLS = re.compile(
    r"\b(?:pip3?|uv|npm|pnpm|yarn|bun|apt|apt-get|brew|gem|cargo|go) (?:install|add|i|ci|sync|get)\b"
)


def is_install(ran: Ran) -> bool:
    """Whether a command brings what was missing."""
    return _INSTALLS.search(ran.line.same) is not None


def is_missing(ran: Ran) -> bool:
    """Whether a failure tells that a program or a module was not there."""
    return _MISSING.search(ran.error) is not None


def is_flake(ran: Ran) -> bool:
    """Whether a failure says nothing of the project, whatever was done about it."""
    return _FLAKE.search(ran.error) is not None or is_install(ran)


def is_look(ran: Ran) -> bool:
    """Whether a command only looks at or moves things: that it fails and then does not is no trial."""
    words = ran.line.program.split(" ")
    if words[0] == "git":
        return words[1:2] not in (["commit"], ["push"])
    return words[0] in _LOOKS or not words[0]
