"""The history keeps to its project and to its sources: nothing crosses, and what a source no longer has is gone."""

from tests.acceptance.world import World


def test_evidence_source_delete_reaches_derived(world: World) -> None:
    """evidence.source_delete_reaches_derived, for tickets and run records: all that came of a file goes with it."""
    for stem, word in (("one", "marzipan"), ("two", "nougat")):
        world.put(f"tickets/{stem}.md", f"# Mend the {word}\n\n## Goal\nThe {word} holds.\n")
        for number in range(3):
            world.put(
                f"tickets/{stem}{number}/attempts/1/run.md",
                f"## Dead ends\nThe {word} melted again behind the proxy, after {number} tries.\n",
            )
            world.put(f"tickets/{stem}{number}/ticket.md", f"# Try the {word} {number}\n")

    def shown() -> dict[str, str]:
        return {
            "tickets": world.cli("history", "query", "SELECT * FROM tickets").out,
            "runs": world.cli("history", "query", "SELECT * FROM run_records").out,
            "themes": world.cli("history", "query", "SELECT * FROM themes").out,
            "search": "".join(world.cli("search", "mend", word).out for word in ("marzipan", "nougat")),
            "history search": "".join(world.cli("history", "search", word).out for word in ("marzipan", "nougat")),
        }

    for name, text in shown().items():
        assert "marzipan" in text and "nougat" in text, name
    for path in [*world.root.glob("tickets/one*/**/*.md"), world.root / "tickets" / "one.md"]:
        path.unlink()
    for name, text in reversed(shown().items()):
        assert "nougat" in text, name
        if name != "search":
            assert "marzipan" not in text, f"{name}\n{text}"
    assert "marzipan" not in world.cli("search", "mend", "marzipan").out
