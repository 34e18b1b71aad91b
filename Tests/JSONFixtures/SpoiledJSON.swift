package import OAuth

/// A JSON text that is right, and what can be wrong with it.
package struct SpoiledJSON: Sendable {
    /// The text, compact.
    package let text: String
    private let root: JSONValue

    package init(_ text: String) throws {
        root = try JSONValue(parsing: Array(text.utf8))
        self.text = root.json
    }

    /// A place in it.
    package struct Place: Sendable, CustomStringConvertible {
        fileprivate enum Step: Sendable {
            case member(String)
            case element(Int)
        }

        fileprivate let steps: [Step]
        package let value: JSONValue

        /// As errors of the kits name it: `data[0].name`.
        package var description: String {
            steps.reduce(into: "") { text, step in
                switch step {
                case .member(let name): text += text.isEmpty ? name : ".\(name)"
                case .element(let index): text += "[\(index)]"
                }
            }
        }

        /// As a JSON pointer (RFC 6901): `/data/0/name`.
        package var pointer: String {
            steps.map { step in
                switch step {
                case .member(let name): "/\(name)"
                case .element(let index): "/\(index)"
                }
            }.joined()
        }

        /// Whether it is a member, which can be left out.
        package var isMember: Bool {
            if case .member? = steps.last { true } else { false }
        }

        /// A value of each other kind. Its own kind, with nothing in it, is not among them.
        package var wrongValues: [JSONValue] {
            let all: [JSONValue] = [
                .null, .bool(true), .number("1e999"), .number("-" + String(repeating: "9", count: 60)),
                .string("\u{1B}[31m<script>\u{202E}"), .array([]), .array([.null]), .object([:]),
                .object(["\u{1B}": .null]),
            ]
            return all.filter { $0.kind != value.kind }
        }
    }

    /// Every place, from outside inwards; the whole is none.
    package var places: [Place] { Self.places(in: root, behind: []) }

    /// The text with another value at a place; without a value, without the member.
    package func replacing(_ place: Place, with value: JSONValue?) -> String {
        (Self.replacing(place.steps[...], in: root, with: value) ?? .null).json
    }

    /// Every beginning of the text that is not all of it.
    package var cutShort: [String] {
        let bytes = Array(text.utf8)
        return bytes.indices.map { String(decoding: bytes[..<$0], as: UTF8.self) }
    }

    /// The text with each of its outermost members twice.
    package var doubled: [String] {
        (root.object?.keys.sorted() ?? []).map { "{\"\($0)\":null," + text.dropFirst() }
    }

    /// The text with one more outermost member, which is unknown.
    package func adding(_ value: String) -> String { "{\"unknown_member\":\(value)," + text.dropFirst() }

    /// A list in a list in a list.
    package static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    private static func places(in value: JSONValue, behind steps: [Place.Step]) -> [Place] {
        let inner: [(Place.Step, JSONValue)] =
            switch value {
            case .object(let members): members.sorted { $0.key < $1.key }.map { (.member($0.key), $0.value) }
            case .array(let elements): elements.enumerated().map { (.element($0.offset), $0.element) }
            default: []
            }
        return inner.flatMap { step, value in
            [Place(steps: steps + [step], value: value)] + places(in: value, behind: steps + [step])
        }
    }

    private static func replacing(
        _ steps: ArraySlice<Place.Step>, in value: JSONValue, with new: JSONValue?
    ) -> JSONValue? {
        switch (steps.first, value) {
        case (.member(let name), .object(var members)):
            members[name] = members[name].flatMap { replacing(steps.dropFirst(), in: $0, with: new) }
            return .object(members)
        case (.element(let index), .array(var elements)) where elements.indices.contains(index):
            elements[index] = replacing(steps.dropFirst(), in: elements[index], with: new) ?? .null
            return .array(elements)
        default: return new
        }
    }
}
