import Foundation
import Geofences

/// Bytes that an attacker chose, for everything of places that reads some. The first byte says what reads the rest: `N` NMEA, `X` GPX,
/// `J` GeoJSON, `D` a line of gpsd, `Q` a record of the queue of crossings.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let input = Input(start, count) else { return 0 }
    switch input.kind {
    case UInt8(ascii: "N"): fuzzTrack(input.content, as: .nmea)
    case UInt8(ascii: "X"): fuzzTrack(input.content, as: .gpx)
    case UInt8(ascii: "J"): fuzzRegions(input.content)
    case UInt8(ascii: "D"): fuzzReport(input.content)
    case UInt8(ascii: "Q"): fuzzQueue(input.content)
    default: break
    }
    return 0
}

/// Ends the process, which is how the fuzzer learns that something is wrong.
private func require(_ condition: Bool, _ rule: String) {
    if !condition { fatalError(rule) }
}

private func requireReadable(_ text: String) {
    require(text.utf8.count < 4_000, "an error quotes without bound")
    require(
        text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "an error holds what a terminal obeys")
}

private func fuzzTrack(_ bytes: [UInt8], as format: TrackFormat) {
    func read(_ pieces: [ArraySlice<UInt8>]) -> ([Fix], PositionsError?) {
        var reader = format.reader
        var fixes: [Fix] = []
        do throws(PositionsError) {
            for piece in pieces { try reader.read(piece, into: &fixes) }
            try reader.end(into: &fixes)
        } catch {
            requireReadable(error.description)
            return (fixes, error)
        }
        require(!fixes.isEmpty, "a track without a fix is no error")
        return (fixes, nil)
    }
    let (fixes, error) = read([bytes[...]])
    // Every cut of short inputs, some of long ones.
    for cut in stride(from: 0, through: bytes.count, by: max(bytes.count / 16, 1)) {
        let (again, other) = read([bytes[..<cut], bytes[cut...]])
        require(again == fixes && other == error, "cut in two, it is another track")
    }
    guard format == .gpx else { return }
    var reader = GPXReader()
    var ignored: [Fix] = []
    try? reader.read(bytes[...], into: &ignored)
    require(reader.visited <= 4 * bytes.count, "bytes were looked at more than four times")
    evaluate(fixes, against: [])
}

private func fuzzRegions(_ bytes: [UInt8]) {
    let regions: [Geofence]
    do throws(GeofencesError) { regions = try GeoJSON.regions(in: bytes) } catch {
        return requireReadable(error.description)
    }
    require(Set(regions.map(\.id)).count == regions.count, "an identifier comes twice")
    let index = GeofenceIndex(regions)
    let places = [(0.0, 0.0), (50, 10), (90, 0), (-90, 180), (1, -179.9)]
    let positions = places.compactMap { try? Coordinate(latitude: $0.0, longitude: $0.1) }
    for position in positions {
        let distances = regions.map { $0.distanceToEdge(from: position) }
        require(distances.allSatisfy(\.isFinite), "a distance is not finite")
        let holding = zip(regions, distances).filter { $0.1 < 0 }.map(\.0.id)
        require(index.regions(around: position).map(\.id) == holding, "the index finds other regions")
        let nearest = index.nearest(3, to: position).map(\.distanceToEdge.magnitude)
        require(nearest == Array(distances.map(\.magnitude).sorted().prefix(3)), "the index finds other neighbours")
    }
    evaluate(
        positions.enumerated().compactMap { number, position in
            try? Fix(position, accuracy: 5, time: Date(timeIntervalSince1970: Double(number) * 86_400))
        }, against: regions)
}

/// Enter and exit of each region take turns, and a monitor that is restored knows what the first one knew.
private func evaluate(_ fixes: [Fix], against regions: [Geofence]) {
    guard var monitor = try? GeofenceMonitor(regions) else { fatalError("regions with different names were refused") }
    var inside: Set<String> = []
    for fix in fixes.prefix(64) {
        for event in monitor.receive(fix).events {
            switch event.kind {
            case .enter: require(inside.insert(event.region).inserted, "entered twice")
            case .exit: inside.remove(event.region)
            case .dwell: break
            }
        }
        let restored = try? GeofenceMonitor(regions, restoring: monitor.state)
        require(restored?.state == monitor.state, "restored, it is another monitor")
    }
}

private func fuzzReport(_ bytes: [UInt8]) {
    do throws(PositionsError) { _ = try GPSD.update(of: bytes, source: "gpsd") } catch {
        requireReadable(error.description)
    }
}

private func fuzzQueue(_ bytes: [UInt8]) {
    guard let batch = try? JSONDecoder().decode(AreaCrossing.Batch.self, from: Data(bytes)) else { return }
    require(batch.crossings.allSatisfy { $0.occurredAt.isFinite && $0.recordedAt.isFinite }, "a time is not finite")
    guard let written = try? JSONEncoder().encode(batch) else { fatalError("what was read cannot be written") }
    let again = try? JSONDecoder().decode(AreaCrossing.Batch.self, from: written)
    require(again?.crossings == batch.crossings, "written and read, they are other crossings")
}
