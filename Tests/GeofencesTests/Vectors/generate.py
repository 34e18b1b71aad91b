"""Writes geodesic.csv: distances on WGS 84 by GeographicLib (PyPI: geographiclib). Run: python3 generate.py > geodesic.csv"""
import random

from geographiclib.geodesic import Geodesic

random.seed(12)
earth = Geodesic.WGS84
print("latitude1,longitude1,latitude2,longitude2,metres")


def row(latitude1, longitude1, latitude2, longitude2):
    latitude1, longitude1, latitude2, longitude2 = (round(x, 9) for x in (latitude1, longitude1, latitude2, longitude2))
    metres = earth.Inverse(latitude1, longitude1, latitude2, longitude2)["s12"]
    print(f"{latitude1!r},{longitude1!r},{latitude2!r},{longitude2!r},{metres:.6f}")


def reduced(longitude):
    return (longitude + 180) % 360 - 180


# Short lines: every latitude, direction and order of magnitude from 1 cm to 100 km.
for _ in range(600):
    latitude, longitude = random.uniform(-90, 90), random.uniform(-180, 180)
    end = earth.Direct(latitude, longitude, random.uniform(0, 360), 10 ** random.uniform(-2, 5))
    row(latitude, longitude, end["lat2"], reduced(end["lon2"]))
# At the poles and across the antimeridian.
for _ in range(100):
    latitude = random.choice([-1, 1]) * (90 - 10 ** random.uniform(-8, 0))
    end = earth.Direct(latitude, random.uniform(-180, 180), random.uniform(0, 360), 10 ** random.uniform(0, 5))
    row(latitude, random.uniform(-180, 180), end["lat2"], reduced(end["lon2"]))
for _ in range(100):
    latitude = random.uniform(-80, 80)
    row(latitude, 180 - random.uniform(0, 0.4), latitude + random.uniform(-0.4, 0.4), -180 + random.uniform(0, 0.4))
# Long lines, and those to near the antipode, where Vincenty's formula has no answer.
for _ in range(100):
    row(random.uniform(-90, 90), random.uniform(-180, 180), random.uniform(-90, 90), random.uniform(-180, 180))
for _ in range(100):
    latitude, longitude = random.uniform(-90, 90), random.uniform(-180, 0)
    row(latitude, longitude, max(-90, min(90, -latitude + random.uniform(-1, 1))), longitude + 180 - random.uniform(0, 1))
row(0, 0, 0, 180)
row(90, 0, -90, 0)
row(0, 0, 0, 0)
row(0, 0, 0.5, 179.7)
