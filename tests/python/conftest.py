"""What the suites share.  TSW_COUNTS names a file that gets "passed failed skipped"; REQUIRE_GPU=1
turns a skip for want of a GPU into a failure."""

import os

import pytest

GPU = "no GPU, or a build without CUDA"
_counts = {"passed": 0, "failed": 0, "skipped": 0}


def need(module: str):
    """The module, or the test that asks is skipped."""
    return pytest.importorskip(module, reason=f"{module} is not installed", exc_type=ImportError) if _exc_type else (
        pytest.importorskip(module, reason=f"{module} is not installed")
    )


_exc_type = tuple(int(part) for part in pytest.__version__.split(".")[:2]) >= (8, 2)


def skip_without_gpu():
    import tileswap

    if not tileswap.cuda_available():
        if os.environ.get("REQUIRE_GPU", "0") not in ("", "0"):
            pytest.fail(GPU)
        pytest.skip(GPU)


def skip_unless_gpus(wanted: int, found: int):
    """REQUIRE_GPUS=2 demands two."""
    if found < wanted:
        if int(os.environ.get("REQUIRE_GPUS") or 0) >= wanted:
            pytest.fail(f"{found} of {wanted} GPUs")
        pytest.skip(f"{found} of {wanted} GPUs")


@pytest.fixture
def gpu():
    skip_without_gpu()


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        _counts[report.outcome] += 1


def pytest_collectreport(report):
    if report.outcome != "passed":
        _counts[report.outcome] += 1


def pytest_sessionfinish(session):
    if "TSW_COUNTS" in os.environ:
        with open(os.environ["TSW_COUNTS"], "w") as out:
            print(_counts["passed"], _counts["failed"], _counts["skipped"], file=out)
