"""`backstory resolve`: ends a conflict."""

from __future__ import annotations

import click

from backstory.surfaces.cli.judging import operate, why
from backstory.surfaces.cli.running import Run, make


@make("resolve", "backstory resolve 7K3QZP --over PQR4ST", "backstory resolve 7K3QZP --over PQR4ST --both")
@click.argument("keep", metavar="KEEP")
@click.option("--over", required=True, metavar="ID", help="The other side.")
@click.option("--both", is_flag=True, help="They are no conflict: both stand.")
@why("Why.")
def command(run: Run, keep: str, over: str, both: bool, reason: str) -> None:
    """KEEP stands as confirmed; the other one is superseded by it, or with `--both` stands as well."""
    operate(run, "resolve", keep, reason=reason, over=over, both=both)
