"""The package against the header and against itself."""

import inspect
import pickle
import re
import sys
import typing
from pathlib import Path

import pytest
import tileswap

HEADER = Path(__file__).resolve().parents[2] / "src" / "tileswap.h"


def test_statuses_are_those_of_the_header():
    header = dict(re.findall(r"^\tTSW_(OK|ERR_\w+) = (\d+)", HEADER.read_text(), re.M))
    assert len(header) > 20
    assert {name: int(value) for name, value in header.items()} == {s.name: s.value for s in tileswap.Status}


@pytest.mark.parametrize("name", ["options", "result"])
def test_structures_are_those_of_the_header(name):
    from tileswap import _library

    text = re.search(rf"^typedef struct tsw_file_{name} {{(.*?)^}}", HEADER.read_text(), re.M | re.S).group(1)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", text)  # the pointer to a function
    names = [re.search(r"\w+$", part.strip()).group() for line in text.split(";")[:-1] for part in line.split(",")]
    structure = getattr(_library, f"_File{name.title()}")
    assert names == [field for field, _ in structure._fields_]


def test_names_are_those_of_the_header():
    from tileswap import _files

    text = HEADER.read_text()
    assert {k.lower(): int(v) for k, v in re.findall(r"TSW_FORMAT_(\w+) = (\d)", text)} == _files.FORMATS
    assert {k.lower(): int(v) for k, v in re.findall(r"TSW_DURABLE_(\w+) = (\d)", text)} == _files.DURABILITIES


def test_version_is_that_of_the_header():
    numbers = re.findall(r"^#define TSW_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", HEADER.read_text(), re.M)
    assert tileswap.__version__ == ".".join(numbers)


def test_is_typed_and_documented():
    assert (Path(tileswap.__file__).parent / "py.typed").exists()
    for name in tileswap.__all__:
        thing = getattr(tileswap, name)
        assert inspect.getdoc(thing), name
        if inspect.isfunction(thing):
            hints = typing.get_type_hints(thing) if sys.version_info >= (3, 10) else thing.__annotations__
            assert set(hints) == set(inspect.signature(thing).parameters) | {"return"}, name


def test_loads_no_array_library():
    import subprocess

    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, tileswap; print(*{'numpy', 'torch', 'cupy'} & set(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.split() == []


def test_errors_are_one_family():
    error = tileswap.NotInPlaceError("why")
    assert isinstance(error, tileswap.TileswapError) and isinstance(error, ValueError)
    assert error.status == tileswap.Status.ERR_STRIDE


@pytest.mark.parametrize(
    "error", [tileswap.TileswapError(9, "why"), tileswap.TileswapError(99, "why"), tileswap.NotInPlaceError("why", 10)]
)
def test_errors_come_out_of_other_processes(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == "why"
    assert copy.status == error.status and type(copy.status) is type(error.status)


@pytest.mark.parametrize("thing", [None, 3, [[1, 2], [3, 4]], "text", object()])
def test_things_without_memory(thing):
    with pytest.raises(TypeError, match="shows no memory"):
        tileswap.transpose_(thing)


def test_digest_prints_as_the_tool_does():
    assert str(tileswap.Digest(1, 255)) == "placed=0000000000000001 values=00000000000000ff"
