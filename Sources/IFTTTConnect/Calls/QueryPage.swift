import Handshake
public import OAuth

/// One page of a query's results (dossier 2.10).
public struct QueryPage: Sendable, Hashable {
    /// The rows, in order: the ingredients of each, by name.
    public let rows: [[String: Ingredient]]
    /// The next page; nil on the last one.
    public let next: Next?

    /// The position of a page; can be stored and used in another process.
    public struct Next: Sendable, Hashable, Codable {
        public let cursor: String
        /// The values of the list; nil when the service gave none.
        let fields: JSONValue?
    }

    /// The page, its size, and the lists to include.
    public struct Request: Sendable, Hashable {
        /// The maximum number of rows; nil leaves it to the service.
        public var limit: Int?
        /// The complex ingredients to include as lists.
        public var includes: [String]
        /// The page; nil for the first.
        public var next: Next?

        public init(limit: Int? = nil, includes: [String] = [], next: Next? = nil) {
            self.limit = limit
            self.includes = includes
            self.next = next
        }
    }

    /// An ingredient of a row.
    public indirect enum Ingredient: Sendable, Hashable {
        case value(JSONValue)
        /// A list that can be fetched by a query with these values.
        case query(fields: JSONObject)
        /// An included list.
        case list(QueryPage)
    }

    init(_ value: JSONValue, answer: String, place: String) throws(ConnectError) {
        let members = try Members(value, answer: answer, place: place)
        guard members.text("type") == "list" else { throw members.wrong("type", expected: "“list”") }
        guard let data = members["data"]?.array else { throw members.wrong("data", expected: "a list") }
        var rows: [[String: Ingredient]] = []
        for (index, row) in data.enumerated() {
            let row = try Members(row, answer: answer, place: members.place + "data[\(index)]")
            var ingredients: [String: Ingredient] = [:]
            for (name, value) in row.members {
                let place = row.place + quoted(name, limit: 60)
                ingredients[name] = try Self.ingredient(value, answer: answer, place: place)
            }
            rows.append(ingredients)
        }
        self.rows = rows
        // Null or absence means the end; a malformed value does not.
        if let value = members["next"] {
            next = try Next(try Members(value, answer: answer, place: members.place + "next"))
        } else {
            next = nil
        }
    }

    private static func ingredient(
        _ value: JSONValue, answer: String, place: String
    ) throws(ConnectError) -> Ingredient {
        switch value.object?["type"] {
        case .string("query")?:
            return .query(fields: try Members(value, answer: answer, place: place).fields()?.object ?? [:])
        case .string("list")?: return .list(try QueryPage(value, answer: answer, place: place))
        default: return .value(value)
        }
    }
}

extension QueryPage.Next {
    /// The maximum length of a cursor, which is sent back and remembered to detect loops.
    private static let longest = 2048

    private enum CodingKeys: CodingKey {
        case cursor, fields
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let cursor = try container.decode(String.self, forKey: .cursor)
        guard (1...Self.longest).contains(cursor.utf8.count) else {
            throw DecodingError.dataCorruptedError(forKey: .cursor, in: container, debugDescription: "not a cursor")
        }
        let fields = try container.decodeIfPresent(String.self, forKey: .fields)
            .map { try? JSONValue(parsing: Array($0.utf8)) }
        if let fields, fields?.object == nil {
            throw DecodingError.dataCorruptedError(forKey: .fields, in: container, debugDescription: "not an object")
        }
        self.init(cursor: cursor, fields: fields ?? nil)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(cursor, forKey: .cursor)
        // As a string, because numbers must keep their spelling.
        try container.encodeIfPresent(fields?.json, forKey: .fields)
    }

    fileprivate init(_ members: Members) throws(ConnectError) {
        guard let cursor = members.text("cursor"), (1...Self.longest).contains(cursor.utf8.count) else {
            throw members.wrong("cursor", expected: "a text of 1 to \(Self.longest) bytes")
        }
        self.init(cursor: cursor, fields: try members.fields())
    }
}

extension Members {
    /// The values of the list; nil when there are none.
    fileprivate func fields() throws(ConnectError) -> JSONValue? {
        guard let fields = self["fields"] else { return nil }
        guard fields.object != nil else { throw wrong("fields", expected: "an object") }
        return fields
    }
}
