import Handshake
public import OAuth

extension FieldValue {
    /// Parses a value. An unknown form becomes ``other(_:)``, as it came.
    ///
    /// Only the members of a place or an option that the dossier names are read (1.9). Others are dropped, also when the value is
    /// sent back.
    public init(json: JSONValue) {
        switch json {
        case .string(let text): self = .text(text)
        case .array(let elements):
            let options = elements.compactMap { $0.object.flatMap { Option(reading: Members($0)) } }
            self = options.count == elements.count ? .options(options) : .other(json)
        case .object(let object):
            let members = Members(object)
            if let place = LocationValue(reading: members) {
                self = .location(place)
            } else if let option = Option(reading: members) {
                self = .option(option)
            } else {
                self = .other(json)
            }
        default: self = .other(json)
        }
    }

    /// Parses a hand-written value. It is going to be stored or used in a run, so nothing may be dropped: a coordinate out of
    /// range, an invalid radius or a mistyped member is an error.
    ///
    /// - Throws: ``ConnectError/input(member:problem:)`` with the place of the error.
    package init(written json: JSONValue, at member: String) throws(ConnectError) {
        guard json != .null else {
            throw .input(member: member, problem: "it is missing. Leave out the field if it has no value")
        }
        self.init(json: json)
        let members = Members(json.object ?? [:])
        let written = Set(members.members.filter { $0.value != .null }.keys)
        guard !written.isDisjoint(with: ["lat", "lng", "latitude", "longitude"]) else { return }
        if let wrong = Self.wrongPart(ofPlace: members) {
            throw .input(
                member: "\(member).\(quoted(wrong, limit: 60))",
                problem: "a place has lat (−90 to 90), lng (−180 to 180) and, for an area, a radius above 0 in metres; "
                    + "optional members are address, description and zoom")
        }
    }

    /// The member of a place that would be dropped or is invalid.
    private static func wrongPart(ofPlace members: Members) -> String? {
        guard let place = LocationValue(reading: members) else {
            let latitude = members.number("lat") ?? members.number("latitude") ?? .infinity
            let longitude = members.number("lng") ?? members.number("longitude") ?? .infinity
            if !(-90...90).contains(latitude) { return "lat" }
            return (-180...180).contains(longitude) ? "radius" : "lng"
        }
        let read = Set((place.json.object ?? [:]).keys).union(["latitude", "longitude"])
        return members.members.filter { $0.value != .null && !read.contains($0.key) }.keys.min()
    }

    /// The value as JSON. The coordinates of a place are `lat` and `lng`, the newer of two spellings.
    public var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .option(let option): option.json
        case .options(let options): .array(options.map(\.json))
        case .location(let place): place.json
        case .other(let value): value
        }
    }

    /// The value in updates and runs: only the opaque value of an option (dossier 2.9).
    var sent: JSONValue {
        switch self {
        case .option(let option): .string(option.value)
        case .options(let options): .array(options.map { .string($0.value) })
        case .text, .location, .other: json
        }
    }
}

extension FieldValue.Option {
    init?(reading members: Members) {
        guard let value = members.text("value") else { return nil }
        self.init(group: members.text("group"), label: members.text("label"), value: value)
    }

    var json: JSONValue {
        .object([
            "group": group.map(JSONValue.string) ?? .null, "label": label.map(JSONValue.string) ?? .null,
            "value": .string(value),
        ])
    }
}

extension LocationValue {
    /// Accepts both spellings of the coordinates (dossier 1.9; 10.2, W28).
    init?(reading members: Members) {
        guard let latitude = members.number("lat") ?? members.number("latitude"),
            let longitude = members.number("lng") ?? members.number("longitude")
        else { return nil }
        self.init(
            latitude: latitude, longitude: longitude, radius: members.number("radius"),
            address: members.text("address"), description: members.text("description"), zoom: members.number("zoom"))
    }

    var json: JSONValue {
        var members: JSONObject = [
            "lat": .number(Self.spelled(latitude)), "lng": .number(Self.spelled(longitude)),
        ]
        members["radius"] = radius.map { .number(Self.spelled($0)) }
        members["address"] = address.map(JSONValue.string)
        members["description"] = description.map(JSONValue.string)
        members["zoom"] = zoom.map { .number(Self.spelled($0)) }
        return .object(members)
    }

    /// A finite number in JSON, integers without a fraction.
    private static func spelled(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : "\(number)"
    }
}

extension FieldValue: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            self.init(json: try JSONValue(parsing: Array(text.utf8)))
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a field's value")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        // As a string, because numbers must keep their spelling.
        var container = encoder.singleValueContainer()
        try container.encode(json.json)
    }
}
