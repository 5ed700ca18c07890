"""`backstory agent-rule`: the block that tells an agent to ask the memory first."""

from __future__ import annotations

from backstory.surfaces.cli.running import Run, make


@make("agent-rule", "backstory agent-rule >> AGENTS.md", project=False)
def command(run: Run) -> None:
    """For AGENTS.md or CLAUDE.md. Nothing is written; the text goes to stdout."""
    from backstory.project.agent_rule import TEXT, Rule

    run.answer(Rule(TEXT), lambda: TEXT.rstrip("\n").split("\n"))
