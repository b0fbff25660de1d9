# SPDX-License-Identifier: Apache-2.0
"""Text and JSON on the disk, and the tools of CUDA."""

from typing import Any
import json
import os
import subprocess

from .instructions import SassError


def read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise SassError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def read_json(path: str, schema: str) -> dict[str, Any]:
    try:
        data = json.loads(read_text(path))
    except ValueError as error:
        raise SassError(f"{path}: {error}") from error
    if not isinstance(data, dict) or data.get("schema") != schema:
        raise SassError(f"{path}: is not {schema}")
    return data


def write_text(path: str, text: str) -> None:
    temporary = f"{path}.part"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        raise SassError(f"{path}: cannot be written: {error.strerror}") from error


def run_tool(*command: str) -> str:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError as error:
        raise SassError(f"{command[0]} is not installed") from error
    except subprocess.CalledProcessError as error:
        raise SassError(f"{command[0]}: {error.stderr.strip().splitlines()[-1:] or error}") from error
