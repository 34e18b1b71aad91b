import Geofences

/// Reads a track that comes in pieces of any length.
protocol TrackReader: Sendable {
    /// How many points had no valid position or no time.
    var passedOver: Int { get }

    /// What is wrong with a track that has not begun: NMEA without a sentence, GPX without its first element. Nil once it has.
    var missingBeginning: PositionsError? { get }

    /// Takes a piece and appends the fixes that it completes.
    mutating func read(_ piece: ArraySlice<UInt8>, into fixes: inout [Fix]) throws(PositionsError)

    /// Takes the end and appends the fixes that it completes.
    mutating func end(into fixes: inout [Fix]) throws(PositionsError)
}

/// How a track is written.
public enum TrackFormat: String, Sendable, Hashable, CaseIterable {
    case gpx, nmea

    var reader: any TrackReader {
        switch self {
        case .gpx: GPXReader()
        case .nmea: NMEAReader()
        }
    }

    /// The format of a file that begins with this, recognised by its first character: GPX begins with an element.
    init?(beginningOf piece: some Sequence<UInt8>) {
        let isPassedOver = { (byte: UInt8) in [0x09, 0x0A, 0x0D, 0x20, 0xEF, 0xBB, 0xBF].contains(byte) }
        guard let first = piece.first(where: { !isPassedOver($0) }) else { return nil }
        self = first == UInt8(ascii: "<") ? .gpx : .nmea
    }
}
