#if Sandbox
import SandboxCore

/// A text with places for values, whose names stand in braces: `/{tenant}/oauth2/token`.
struct TextTemplate: Sendable {
    private enum Piece {
        case literal(String)
        case place(String)
    }

    private let pieces: [Piece]

    init(_ text: String) {
        var pieces: [Piece] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            if rest.startIndex < open { pieces.append(.literal(String(rest[..<open]))) }
            pieces.append(.place(String(rest[rest.index(after: open)..<close])))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { pieces.append(.literal(String(rest))) }
        self.pieces = pieces
    }

    /// The values of the places in a text, none of which is empty; nil when the text does not fit.
    func values(in text: String) -> [String: String]? {
        var values: [String: String] = [:]
        var rest = text[...]
        for (index, piece) in pieces.enumerated() {
            switch piece {
            case .literal(let literal):
                guard rest.hasPrefix(literal) else { return nil }
                rest = rest.dropFirst(literal.count)
            case .place(let name):
                var end = rest.endIndex
                if index + 1 < pieces.count, case .literal(let next) = pieces[index + 1] {
                    guard let found = rest.firstRange(of: next) else { return nil }
                    end = found.lowerBound
                }
                guard rest.startIndex < end else { return nil }
                values[name] = String(rest[..<end])
                rest = rest[end...]
            }
        }
        return rest.isEmpty ? values : nil
    }

    /// The text with these values; a place without one keeps its braces.
    func filled(with values: [String: String]) -> String {
        pieces.map { piece in
            switch piece {
            case .literal(let literal): literal
            case .place(let name): values[name] ?? "{\(name)}"
            }
        }.joined()
    }
}

/// Path and query of one of a service's addresses, whatever its host is.
struct AddressTemplate: Sendable {
    /// As it is written: without a slash where the address ends with its host.
    let path: String
    private let segments: [TextTemplate]
    private let query: FormParameters

    /// - Parameter address: an address with a scheme; nil is returned for any other text.
    init?(_ address: String?) {
        let parts = (address ?? "").split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, parts[0].hasSuffix(":"), parts[1].isEmpty, !parts[2].isEmpty else { return nil }
        let target: String = parts.count > 3 ? "/\(parts[3])" : ""
        let path = String(target.prefix { $0 != "?" })
        self.path = path
        segments = Self.segments(path)
        query = FormParameters(urlEncoded: target.utf8.dropFirst(path.utf8.count + 1))
    }

    private init(path: String) {
        self.path = path
        segments = Self.segments(path)
        query = FormParameters()
    }

    /// The address with more behind its path.
    func appending(_ text: String) -> AddressTemplate {
        AddressTemplate(path: (path.hasSuffix("/") ? String(path.dropLast()) : path) + text)
    }

    /// Whether the address is at the origin itself.
    var isRoot: Bool { path.isEmpty || path == "/" }

    /// What the places of the path stand for in a request; nil when the request is for another path.
    func values(in request: IncomingRequest) -> [String: String]? {
        let requested = request.path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard requested.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (segment, text) in zip(segments, requested) {
            guard let found = segment.values(in: text) else { return nil }
            values.merge(found) { $1 }
        }
        return values
    }

    /// Whether all that stands in the query of the address stands in that of a request.
    func hasQuery(of request: IncomingRequest) -> Bool {
        query.pairs.allSatisfy { own in request.query.pairs.contains { $0.name == own.name && $0.value == own.value } }
    }

    private static func segments(_ path: String) -> [TextTemplate] {
        (path.isEmpty ? "/" : path).split(separator: "/", omittingEmptySubsequences: false).map {
            TextTemplate(String($0))
        }
    }
}
#endif
