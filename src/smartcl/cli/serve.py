"""``smartcl serve``: a model that answers while it learns, over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from smartcl.cli.loading import loading
from smartcl.cli.one_line import note
from smartcl.cli.options import Memory, MethodName, Seed, SettingsOption
from smartcl.cli.usage import UsageError, arguments_checked, assignments, one_thread
from smartcl.learners.methods import USUAL_METHOD
from smartcl.memory import Budget

#: The token stands in the environment or in a file: arguments are there for all users of a machine to see.
TOKEN = "SMARTCL_TOKEN"
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def serve(
    model: Annotated[Path, typer.Argument(help="The folder of a model; with --per, of many.")],
    label: Annotated[str | None, typer.Option(help="The column of the label, where there is no model yet.")] = None,
    schema: Annotated[Path | None, typer.Option(help="A schema.json that says what the columns are.")] = None,
    per: Annotated[str | None, typer.Option(metavar="COL", help="A model for each value of this column.")] = None,
    room: Annotated[str, typer.Option(help="Bytes of the models by key that are held open.")] = "1GB",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on.")] = 8000,
    token_file: Annotated[Path | None, typer.Option(help=f"A file with the bearer token; else {TOKEN}.")] = None,
    memory: Memory = "1MB",
    method: MethodName = USUAL_METHOD,
    settings: SettingsOption = None,
    batch: Annotated[int, typer.Option(min=1, help="Rows that are learned together at the most.")] = 50,
    seed: Seed = 0,
    gather_seconds: Annotated[
        float, typer.Option(min=0, help="Seconds that rows wait for others to be learned with.")
    ] = 0.02,
    save_seconds: Annotated[float, typer.Option(min=0.1, help="Seconds between saves.")] = 60.0,
    sync_ms: Annotated[
        float, typer.Option(min=0, help="Milliseconds that an answer to /learn waits for a shared fsync.")
    ] = 5.0,
    versions: Annotated[int, typer.Option(min=1, help="Saved versions that can be gone back to.")] = 10,
    pending: Annotated[str, typer.Option(help="Bytes of predicted rows that wait for their label.")] = "10MB",
    pending_hours: Annotated[float, typer.Option(min=0.001, help="Hours that they wait.")] = 24.0,
    queue_rows: Annotated[int, typer.Option(min=1, help="Rows that wait to be learned at the most.")] = 20_000,
    body: Annotated[str, typer.Option(help="Bytes of a request at the most.")] = "8MB",
    shadow_rows: Annotated[
        int | None, typer.Option(min=1, help="A copy learns, and takes over when it is better for this number of rows.")
    ] = None,
    log: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "warning",
) -> None:
    """Answer and learn over HTTP; what was acknowledged is never lost. The page is at the address itself."""
    with loading():
        from smartcl.columns.column_schema import read_schema
        from smartcl.errors import extra
        from smartcl.saving.persistence import INDEX

        for module in ("fastapi", "uvicorn", "prometheus_client"):
            extra(module, "serve")
        from smartcl.serve.limits import Keeping, Limits
        from smartcl.serve.model_plan import ModelPlan
        from smartcl.serve.running import run_service, told_where
        from smartcl.serve.served_models import Models
    one_thread()
    with arguments_checked():
        token = _token(token_file)
        if token is None and host not in LOOPBACK:
            raise UsageError(f"to listen on {host}, give a token: {TOKEN}=... or --token-file")
        known = (model / INDEX).is_file() and per is None
        if not known and label is None and schema is None:
            raise UsageError(f"there is no model in {model}: name the column of the label with --label, or a --schema")
        if log not in ("debug", "info", "warning", "error"):
            raise UsageError(f"--log must be debug, info, warning or error, got {log!r}")
        parameters = assignments(settings or [])
        plan = ModelPlan(
            label or "label",
            memory,
            seed,
            batch,
            None if schema is None else read_schema(str(schema)),
            {"method": method, "parameters": parameters or None},
        )
        limits = Limits(
            body_bytes=_size("body", body),
            queued_rows=queue_rows,
            pending_bytes=_size("pending", pending),
            pending_seconds=3600 * pending_hours,
        )
        keeping = Keeping(
            save_seconds=save_seconds,
            sync_seconds=sync_ms / 1000,
            versions=versions,
            gather_seconds=gather_seconds,
            shadow_rows=shadow_rows,
        )
        model.mkdir(parents=True, exist_ok=True)
        models = Models(model, plan, limits, keeping, per, _size("room", room))
    note(f"serving {model} on {told_where(host, port)}")
    with arguments_checked():
        run_service(models, host, port, token, log)


def _size(name: str, text: str) -> int:
    """A number of bytes."""
    try:
        return Budget.parse(text, sample_nbytes=0).nbytes
    except ValueError:
        raise UsageError(f"--{name} must be a size such as 8MB or 1GiB, got {text!r}") from None


def _token(file: Path | None) -> str | None:
    """The token, without the blanks around it."""
    token = os.environ.get(TOKEN) if file is None else file.read_text(encoding="utf-8")
    if token is None:
        return None
    if len(token.strip()) < 16:
        raise UsageError("the token must have 16 characters or more")
    return token.strip()
