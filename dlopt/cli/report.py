"""The command that reports on the records of a batch."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dlopt import aliases
from dlopt.cli.console import Exit, err, out
from dlopt.cli.help_texts import option
from dlopt.cli.json_output import print_result
from dlopt.cli.options import AsJson, writable
from dlopt.errors import NotApplicableError, printable
from dlopt.presentation.wording import counted


def report(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.jsonl", help="Records that `dlopt batch` wrote.")
    ],
    write_to: Annotated[
        Path,
        option(
            "--out -o FILE",
            "A page (.html), or a table of the optima and bounds (.csv).",
            callback=writable,
        ),
    ],
    title: Annotated[
        str | None, option("--title TEXT", "Title of the page.", "name of FILE.jsonl")
    ] = None,
    pictures: Annotated[
        str, option("--pictures P", "Pictures of plans: link, inline or none.")
    ] = "link",
    picture_folder: Annotated[
        Path | None,
        option(
            "--picture-folder FOLDER",
            "Folder of the pictures; inline takes none from elsewhere.",
            "folder of the records",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Report gaps, profiles and times of a batch."""
    from dlopt.batch import Report, read_records, write_baselines, write_report
    from dlopt.batch.metrics import certified_shares

    suffix = write_to.suffix.lower()
    if suffix not in (".html", ".htm", ".csv"):
        raise NotApplicableError(f"cannot write {write_to}: must end in .html or .csv")
    if pictures not in ("link", "inline", "none"):
        raise NotApplicableError(f"--pictures takes link, inline or none, not {pictures!r}")
    records = read_records(file)
    if not records:
        raise NotApplicableError(f"{file}: there are no records to report")
    written = Report([], [], [])
    if suffix == ".csv":
        write_baselines(records, write_to)
    else:
        written = write_report(
            records,
            write_to,
            title=file.stem if title is None else title,
            home=file.parent,
            pictures=pictures,  # type: ignore[arg-type]
            picture_folder=picture_folder,
        )
    if written.skipped:
        name, reason = written.skipped[0]
        more = f", and {len(written.skipped) - 1} more" if len(written.skipped) > 1 else ""
        err.print(printable(f"skipped: {name}: {reason}{more}"), markup=False)
    for text in written.unmeasured:
        err.print(printable(text), markup=False)
    for evaluated in written.contradictions:
        record = evaluated.record
        text = f"{record.key.method} on {record.instance} is better than the proven"
        text += f" {evaluated.proven}: one of them is wrong"
        err.print(printable(text), markup=False)
    if as_json:
        content = aliases.with_former_keys(
            {
                "report": str(write_to),
                "records": len(records),
                "contradictions": len(written.contradictions),
                "certified": [
                    asdict(one) | {"share": one.share} for one in certified_shares(records)
                ],
            }
        )
        print_result("report", content)
    else:
        out.print(f"{write_to}: {counted(len(records), 'record')}", markup=False, soft_wrap=True)
    raise typer.Exit(Exit.FOUND if written.contradictions else Exit.DONE)
