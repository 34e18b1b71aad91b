import AsyncSupport

/// What is wrong with the input; each case says what to change.
public enum GeofencesError: Error, Sendable, Hashable {
    /// A latitude beyond ±90, a longitude beyond ±180, or not a number.
    case coordinate(latitude: Double, longitude: Double)
    /// An accuracy that is negative or not a number, in metres.
    case accuracy(Double)
    /// A time that is not a number or beyond the years 1 to 9999.
    case time
    /// A radius that is out of range, in metres. It must be above 0 and at most half the way around the Earth.
    case radius(Double)
    /// A ring of a polygon that encloses nothing.
    case ring(positions: Int)
    /// A region without an identifier, or with one over 1,024 bytes.
    case identifier
    /// Two regions with one identifier.
    case duplicateIdentifier(String)
    /// A region at fault. The values are its place in the file, counted from 1, its identifier where it has one, and
    /// the reason.
    indirect case region(number: Int, id: String?, reason: GeofencesError)
    /// A member of the file that is missing or of another type.
    case member(String, expected: String)
    /// A value of another type: the file's own, or one in a list.
    case value(expected: String)
    /// Text that is not JSON. `line` counts from 1.
    case notJSON(line: Int)
    /// More regions or positions than the limit.
    case tooMany(String, limit: Int)
}

extension GeofencesError: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .coordinate: "invalid_coordinate"
        case .accuracy: "invalid_accuracy"
        case .time: "invalid_time"
        case .radius: "invalid_radius"
        case .ring: "invalid_ring"
        case .identifier: "invalid_identifier"
        case .duplicateIdentifier: "duplicate_identifier"
        case .region(_, _, let reason): reason.code
        case .member, .value: "invalid_member"
        case .notJSON: "not_json"
        case .tooMany: "too_many"
        }
    }

    /// What happened and what to change.
    public var description: String { "\(fault.prefix(1).uppercased())\(fault.dropFirst()). \(cure)" }

    /// What is wrong, as a clause: a region's error has that of its part in it.
    private var fault: String {
        switch self {
        case .coordinate(let latitude, let longitude):
            isSwapped(latitude, longitude)
                ? "latitude \(latitude) is beyond ±90"
                : "latitude \(latitude), longitude \(longitude) is not a position"
        case .accuracy(let metres): "an accuracy of \(metres) m is invalid"
        case .time: "the time is invalid"
        case .radius(let metres): "a radius of \(metres) m is invalid"
        case .ring(let positions): "a ring of \(positions) different positions encloses no area"
        case .identifier: "the region has no usable identifier"
        case .duplicateIdentifier(let id): "two regions have the id \(id.quoted)"
        case .region(let number, let id, let reason):
            "region \(number)" + (id.map { " (" + $0.quoted + ")" } ?? "") + ": \(reason.fault)"
        case .member(let name, _): "\(name.quoted) is missing or has the wrong type"
        case .value: "a value has the wrong type"
        case .notJSON(let line): "line \(line) is not valid JSON"
        case .tooMany(let what, let limit): "there are more than \(limit) \(what)"
        }
    }

    /// What to change.
    private var cure: String {
        switch self {
        case .coordinate(let latitude, let longitude):
            isSwapped(latitude, longitude)
                ? "Latitude and longitude seem to be swapped: GeoJSON has longitude first."
                : "Use latitudes from -90 to 90 and longitudes from -180 to 180."
        case .accuracy: "It must be 0 m or more."
        case .time: "It must lie in the years 1 to 9999."
        case .radius: "It must be above 0 m and at most 20,003,931 m."
        case .ring: "It needs at least 3."
        case .identifier: "Give it an \"id\" of 1 to 1,024 bytes."
        case .duplicateIdentifier: "Give each its own."
        case .region(_, _, let reason): reason.cure
        case .member(_, let expected), .value(let expected): "It must be \(expected)."
        case .notJSON: "Correct the line."
        case .tooMany: "Split the file."
        }
    }

    private func isSwapped(_ latitude: Double, _ longitude: Double) -> Bool {
        latitude.magnitude > 90 && latitude.magnitude <= 180 && longitude.magnitude <= 90
    }
}
