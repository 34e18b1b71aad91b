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
    public var description: String {
        switch self {
        case .coordinate(let latitude, let longitude):
            if latitude.magnitude > 90, latitude.magnitude <= 180, longitude.magnitude <= 90 {
                "latitude \(latitude) is beyond ±90; latitude and longitude seem to be swapped "
                    + "(GeoJSON has longitude first)"
            } else {
                "latitude \(latitude), longitude \(longitude) is not a position; use latitudes from -90 to 90 and "
                    + "longitudes from -180 to 180"
            }
        case .accuracy(let metres): "an accuracy of \(metres) m is invalid; it must be 0 or more"
        case .time: "the time is invalid; it must lie in the years 1 to 9999"
        case .radius(let metres):
            "a radius of \(metres) m is invalid; it must be above 0 and at most 20,003,931 m"
        case .ring(let positions): "a ring of \(positions) different positions encloses no area; it needs at least 3"
        case .identifier: "the region has no usable identifier; give it an \"id\" of 1 to 1,024 bytes"
        case .duplicateIdentifier(let id): "two regions have the id \(id.quoted); give each its own"
        case .region(let number, let id, let reason):
            "region \(number)" + (id.map { " (" + $0.quoted + ")" } ?? "") + ": \(reason)"
        case .member(let name, let expected): "\(name.quoted) is missing or of another type; it must be \(expected)"
        case .value(let expected): "expected \(expected)"
        case .notJSON(let line): "line \(line) is not valid JSON; correct it"
        case .tooMany(let what, let limit): "there are more than \(limit) \(what); split the file"
        }
    }
}

extension String {
    /// The text in quotation marks, with everything but printable ASCII escaped, and shortened.
    package var quoted: String {
        let limit = 60
        let escaped = unicodeScalars.prefix(limit).map { $0.escaped(asASCII: true) }.joined()
        return "\"" + escaped + (unicodeScalars.dropFirst(limit).isEmpty ? "" : "…") + "\""
    }
}
