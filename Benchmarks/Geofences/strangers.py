"""Rtree and Shapely's STRtree on the data of `geofence-benchmark DATA`: strangers.py DATA

Both work in the plane of degrees: they give boxes that may hold a position, and neighbours by the distance in degrees. The distance on the ellipsoid,
the antimeridian and the inside of a circle, which `Geofences` includes, would come on top.
"""

import statistics
import sys
import time

import numpy
import rtree
import shapely

REPEATED = 2_000


def report(what: str, unit: str, samples: list[float]) -> None:
    cuts = statistics.quantiles(samples, n=10) if len(samples) > 1 else [samples[0]] * 9
    print(f"{what}: {statistics.median(samples):.3g} {unit} [{cuts[0]:.3g}–{cuts[8]:.3g}]")


def timed(body) -> float:
    start = time.perf_counter()
    body()
    return time.perf_counter() - start


def boxes(regions: numpy.ndarray) -> numpy.ndarray:
    reach = regions[:, 2] / 111_000
    across = reach / numpy.cos(numpy.radians(regions[:, 1]))
    return numpy.column_stack((regions[:, 0] - across, regions[:, 1] - reach, regions[:, 0] + across, regions[:, 1] + reach))


def main() -> None:
    numbers = numpy.fromfile(sys.argv[1])
    count, asked = int(numbers[0]), int(numbers[1])
    regions = numbers[2:2 + 3 * count].reshape(-1, 3)
    positions = numbers[2 + 3 * count:].reshape(asked, 2)[:REPEATED]
    print(f"Shapely {shapely.__version__}, Rtree {rtree.__version__}")
    areas = boxes(regions)
    some = [shapely.box(*area) for area in areas[:100_000]]
    points = [shapely.Point(position) for position in positions]

    def tree() -> shapely.STRtree:
        built = shapely.STRtree(some)
        built.query(points[0])  # it is built by the first question
        return built

    report("STRtree: index 100,000 boxes", "ms", [timed(tree) * 1e3 for _ in range(5)])
    built = tree()
    report("STRtree: boxes around a position, of 100,000", "µs", [timed(lambda p=p: built.query(p)) * 1e6 for p in points])

    def bulk(part: numpy.ndarray) -> rtree.index.Index:
        return rtree.index.Index(((number, tuple(area), None) for number, area in enumerate(part)))

    report("Rtree: index 100,000 boxes", "ms", [timed(lambda: bulk(areas[:100_000])) * 1e3])
    for size in (100_000, count):
        index = bulk(areas[:size])
        report(f"Rtree: nearest 20 of {size:,}", "µs",
               [timed(lambda p=p: list(index.nearest((*p, *p), 20))) * 1e6 for p in positions[:500]])


main()
