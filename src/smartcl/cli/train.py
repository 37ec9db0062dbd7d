"""``smartcl train``: files in, a model folder out."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smartcl.cli.loading import loading
from smartcl.cli.model_lines import account_lines, columns_table, passed_over_lines
from smartcl.cli.one_line import counted, note
from smartcl.cli.options import AsJson, Format, Memory, MethodName, Seed, SettingsOption, Total, Trust
from smartcl.cli.screen import StatusLine, screen, tell
from smartcl.cli.usage import Interrupted, arguments_checked, assignments, json_text, one_thread
from smartcl.columns.hashed_width import MOST_WIDTH, USUAL_WIDTH
from smartcl.learners.methods import USUAL_METHOD
from smartcl.memory import format_bytes

if TYPE_CHECKING:
    from smartcl.columns.column_schema import ColumnSchema
    from smartcl.columns.determines import Leak
    from smartcl.columns.records import Records
    from smartcl.files.table_model import TableModel
    from smartcl.files.training import Training

ColumnsOption = Annotated[list[str] | None, typer.Option(metavar="COL", help="A column of this kind; repeatable.")]
LIVE_SECONDS = 1.0


def train(
    inputs: Annotated[
        list[str], typer.Argument(help="Files: .csv, .jsonl, .parquet, .libsvm, also .gz, .zst; - is stdin.")
    ],
    label: Annotated[str | None, typer.Option(help="The column of the label.")] = None,
    memory: Memory = "1MB",
    total: Total = None,
    out: Annotated[Path, typer.Option(help="The folder of the model.")] = Path("model"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the model in the folder.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the model in the folder.")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Wait for more at the end of the last input.")] = False,
    numeric: ColumnsOption = None,
    categorical: ColumnsOption = None,
    date: ColumnsOption = None,
    text: ColumnsOption = None,
    clock: ColumnsOption = None,
    code: ColumnsOption = None,
    ignore: ColumnsOption = None,
    id_column: Annotated[str | None, typer.Option("--id", metavar="COL", help="Ids to forget rows by.")] = None,
    schema: Annotated[Path | None, typer.Option(help="A schema.json that says what the columns are.")] = None,
    width: Annotated[int, typer.Option(min=1, max=MOST_WIDTH, help="Places that words are hashed into.")] = USUAL_WIDTH,
    input_format: Format = None,
    checkpoint_rows: Annotated[int | None, typer.Option(min=1, help="Save after this number of rows.")] = None,
    checkpoint_seconds: Annotated[float, typer.Option(min=0.1, help="Save after this number of seconds.")] = 60.0,
    method: MethodName = USUAL_METHOD,
    settings: SettingsOption = None,
    batch: Annotated[int, typer.Option(min=1, help="Rows that are learned together.")] = 50,
    workers: Annotated[int, typer.Option(min=1, help="Workers that learn the files apart; models are merged.")] = 1,
    merge_rows: Annotated[int, typer.Option(min=1, help="Merge after this number of rows of each worker.")] = 50_000,
    engine: Annotated[str, typer.Option(help="Workers are processes here (local) or actors of Ray (ray).")] = "local",
    per: Annotated[str | None, typer.Option(metavar="COL", help="A fleet: a model for each value of a column.")] = None,
    address: Annotated[str | None, typer.Option(help="The Ray cluster: host:port of its head, or auto.")] = None,
    delay: Annotated[
        int | None, typer.Option(min=1, help="Rows answered before a label is known, its own included; else --batch.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write how good it was as one HTML page.")] = None,
    doubts: Annotated[Path | None, typer.Option(help="Write rows whose labels are probably wrong, as CSV.")] = None,
    seed: Seed = 0,
    trust: Trust = None,
    as_json: AsJson = False,
) -> None:
    """Learn the rows of files in one pass, in a memory of a fixed number of bytes; stop and go on at any time."""
    with loading():
        from smartcl.columns.column_schema import CATEGORY, CLOCK, CODE, DATE, IGNORED, NUMBER, TEXT, read_schema
        from smartcl.columns.recognise import Told
        from smartcl.estimator import SmartClassifier
        from smartcl.files.doubted_rows import DoubtsFile
        from smartcl.files.file_source import FileSource
        from smartcl.files.scores_page import page_of_training
        from smartcl.files.summary import summary
        from smartcl.files.table_model import TableModel
        from smartcl.files.training import Checkpoints, Training, check_out
        from smartcl.saving.atomic import check_file, write_file
    one_thread()
    kinds = (
        *((NUMBER, numeric), (CATEGORY, categorical), (DATE, date), (TEXT, text), (IGNORED, ignore)),
        *((CLOCK, clock), (CODE, code)),
    )
    asked = {name: kind for kind, names in kinds for name in names or []}
    if workers > 1 or per is not None:
        with loading():
            from smartcl.cli.train_by_workers import train_by_workers
        with arguments_checked():
            if follow or checkpoint_rows is not None:
                raise ValueError("workers and fleets read files to their end: no --follow, no --checkpoint-rows")
            train_by_workers(
                inputs,
                per,
                out,
                overwrite,
                as_json,
                label=label,
                workers=workers,
                engine=engine,
                address=address,
                merge_rows=merge_rows,
                memory=memory,
                total=total,
                resume=resume,
                columns=asked,
                id=id_column,
                schema=None if schema is None else read_schema(str(schema)),
                width=width,
                input_format=input_format,
                trust_code=trust or (),
                method=method,
                parameters=assignments(settings or []) or None,
                batch_size=batch,
                random_state=seed,
            )
        return
    with arguments_checked():
        goes_on = check_out(out, resume, overwrite)
        told = Told(label, id_column, asked, width)
        begun = TableModel.load(out, trust or ()) if goes_on else None
        parameters = assignments(settings or [])
        classifier = SmartClassifier(
            memory, total=total, method=method, parameters=parameters or None, batch_size=batch, random_state=seed
        )
        training = Training(
            FileSource(tuple(inputs), input_format, follow),
            told,
            classifier if begun is None else begun.classifier,
            Checkpoints(out, checkpoint_rows, checkpoint_seconds),
            None if schema is None else read_schema(str(schema)),
            begun,
            delay,
            told_columns=partial(tell_columns, as_json=as_json),
        )
        for path in (html, doubts):
            if path is not None:
                check_file(path)
    if begun is not None:
        note(f"going on after {begun.progress.rows:,} rows; memory, method and columns are those of the model")
    written: DoubtsFile | None = None
    with ExitStack() as files:
        if doubts is not None:
            with arguments_checked():
                written = files.enter_context(DoubtsFile(doubts, None if begun is None else begun.progress.rows))
            training.heard = written.hear
        interrupted = run(training, out)
    model = training.model
    if model is None or not model.progress.rows:
        raise Interrupted("interrupted before the first rows were learned: nothing is saved")
    if interrupted:
        raise Interrupted(
            f"interrupted after {model.progress.rows:,} rows, saved in {out}: --resume goes on from there"
        )
    result = summary(model)
    if html is not None:
        write_file(html, page_of_training(model, str(out), inputs).encode())
    if as_json:
        print(json_text(result))
    else:
        lines = told_at_the_end(result, out)
        lines += [] if written is None else [f"doubts: {counted(written.rows, 'row')} in {doubts}"]
        tell("\n".join([*lines, *([] if html is None else [f"page: {html}"])]))


def run(training: Training, out: Path) -> bool:
    """Train; whether it was interrupted. An interrupt waits until the batch at hand is learned."""
    from smartcl.files.live import Live, Pace

    stopping = False

    def stop(*_: object) -> None:
        nonlocal stopping
        if training.waits or stopping:
            raise KeyboardInterrupt
        stopping = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    shown = StatusLine()
    pace = Pace(0 if training.model is None else training.model.progress.rows)
    last = 0.0

    def watch(model: TableModel) -> bool:
        nonlocal last
        if (now := time.monotonic()) - last > LIVE_SECONDS:
            last = now
            live = Live.of(model, pace.at(model.progress.rows))
            live.write(out)
            shown.show(live.line())
        return stopping

    try:
        with shown, arguments_checked():
            training.run(watch)
    except KeyboardInterrupt:
        stopping = True
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if training.model is not None and training.model.progress.rows:
            Live.of(training.model, pace.at(training.model.progress.rows), done=True).write(out)
    return stopping


def tell_columns(schema: ColumnSchema, records: Records, found: Sequence[Leak], as_json: bool) -> None:
    """What the columns were taken for, before the first row is learned; and a warning of those that tell the label."""
    if not as_json:
        screen().print(columns_table(schema.taken))
        tell("")
    for leak in found:
        note(str(leak))


def told_at_the_end(result: dict[str, Any], out: Path) -> list[str]:
    """What a training came to, for people."""
    return [
        f"{counted(result['rows'], 'row')} of {counted(result['columns'], 'column')} "
        f"({counted(result['features'], 'feature')}), {counted(len(result['classes']), 'class')}",
        *account_lines(result),
        f"memory: {result['samples_held']:,} samples in {format_bytes(result['memory_bytes'])} "
        f"of {format_bytes(result['budget_bytes'])}{': ' if result['room'] else ''}{result['room']}",
        *passed_over_lines(result["passed_over"]),
        f"saved: {out}",
    ]
