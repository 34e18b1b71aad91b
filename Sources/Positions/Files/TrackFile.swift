import AsyncSupport
import Geofences

/// A file or pipe of which a piece at a time is read, when its fixes have been taken. An actor, because the reading is one after another.
actor TrackFile {
    private let path: String
    private var format: TrackFormat?
    /// Whether the caller named the format.
    private let isNamed: Bool
    private var reader: (any TrackReader)?
    private var file: InputFile?
    private var fixes: ArraySlice<Fix> = []
    private var isAtEnd = false
    /// How many bytes came before the track's beginning.
    private var prelude = 0
    private var hasToldPassedOver = false

    init(_ path: String, as format: TrackFormat?) {
        self.path = path
        self.format = format
        isNamed = format != nil
    }

    func next() async throws -> Fix? {
        while fixes.isEmpty, !isAtEnd {
            let piece = try await read()
            var found: [Fix] = []
            // The fixes before a fault are of use; the fault comes again when they have been taken.
            do { try take(piece, into: &found) } catch {
                guard !found.isEmpty else { throw error }
                fault = error
            }
            fixes = found[...]
        }
        if let fix = fixes.popFirst() { return fix }
        if let fault { throw fault }
        return nil
    }

    /// How many points were passed over; nil for none, and when that was asked before.
    func takePassedOver() -> Int? {
        guard !hasToldPassedOver, let count = reader?.passedOver, count > 0 else { return nil }
        hasToldPassedOver = true
        return count
    }

    private var fault: PositionsError? {
        didSet { isAtEnd = fault != nil }
    }

    private func take(_ piece: [UInt8], into found: inout [Fix]) throws(PositionsError) {
        if reader == nil {
            format = format ?? TrackFormat(beginningOf: piece)
            // Nothing but space so far; a file without anything is a track without a sentence.
            guard format != nil || piece.isEmpty else { return try passOver(piece.count, .unknownFormat) }
            reader = (format ?? .nmea).reader
        }
        guard piece.isEmpty else {
            try reader?.read(piece[...], into: &found)
            if let missingBeginning { try passOver(piece.count, missingBeginning) }
            return
        }
        isAtEnd = true
        do { try reader?.end(into: &found) } catch { throw missingBeginning ?? error }
    }

    /// What is wrong with a track that has not begun; nil once it has.
    private var missingBeginning: PositionsError? {
        reader?.missingBeginning.map { isNamed || format == .gpx ? $0 : .unknownFormat }
    }

    /// What has no beginning in so many bytes is no track. A device may have no end either.
    static let maximumPreludeLength = 1 << 20

    private func passOver(_ count: Int, _ missing: PositionsError) throws(PositionsError) {
        prelude += count
        guard prelude <= Self.maximumPreludeLength else { throw missing }
    }

    private func read() async throws -> [UInt8] {
        do {
            let file = try file ?? InputFile(path)
            self.file = file
            return try await file.read()
        } catch let error as InputFileError {
            throw PositionsError.unreadable(path: path, reason: error.reason)
        }
    }
}
