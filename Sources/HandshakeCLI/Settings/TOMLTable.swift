#if CommandLine
import OAuth

/// A table of a TOML document while it is read.
///
/// A class, because headers and dotted keys add to a table from anywhere behind it.
final class TOMLTable {
    /// What made the table, which decides who may add to it (TOML 1.0, *Table*).
    enum Origin {
        /// A header of a table inside it: a header of its own may still come.
        case implied
        case header
        /// A dotted key: only dotted keys of the same table add to it.
        case dotted
    }

    private enum Entry {
        case value(JSONValue)
        case table(TOMLTable)
        case list(List)
    }

    /// The tables of an array, `[[name]]`. A class, so that adding one copies none.
    private final class List {
        var tables: [TOMLTable] = []
    }

    private var origin: Origin
    private var entries: [[UInt8]: Entry] = [:]

    init(_ origin: Origin) {
        self.origin = origin
    }

    /// Why a key cannot stand where it stands.
    struct Conflict: Error {
        let name: [UInt8]
    }

    /// Adds a value under a dotted key.
    func insert(_ value: JSONValue, at key: [[UInt8]]) throws(Conflict) {
        guard let last = key.last else { return }
        var table = self
        for name in key.dropLast() {
            switch table.entries[name] {
            case nil: table = table.add(TOMLTable(.dotted), named: name)
            case .table(let next) where next.origin == .dotted: table = next
            default: throw Conflict(name: name)
            }
        }
        guard table.entries.updateValue(.value(value), forKey: last) == nil else { throw Conflict(name: last) }
    }

    /// The table that a header opens.
    ///
    /// - Parameter isElement: whether it is one more of an array of tables.
    func open(_ key: [[UInt8]], isElement: Bool) throws(Conflict) -> TOMLTable {
        guard let last = key.last else { return self }
        var table = self
        for name in key.dropLast() {
            switch table.entries[name] {
            case nil: table = table.add(TOMLTable(.implied), named: name)
            case .table(let next): table = next
            case .list(let list): table = list.tables.last ?? table
            case .value: throw Conflict(name: name)
            }
        }
        switch (table.entries[last], isElement) {
        case (nil, false): return table.add(TOMLTable(.header), named: last)
        case (.table(let found), false) where found.origin == .implied:
            found.origin = .header
            return found
        case (nil, true): return table.append(to: List(), named: last)
        case (.list(let list), true): return table.append(to: list, named: last)
        default: throw Conflict(name: last)
        }
    }

    private func add(_ table: TOMLTable, named name: [UInt8]) -> TOMLTable {
        entries[name] = .table(table)
        return table
    }

    private func append(to list: List, named name: [UInt8]) -> TOMLTable {
        let next = TOMLTable(.header)
        list.tables.append(next)
        entries[name] = .list(list)
        return next
    }

    /// The table's members.
    var object: JSONObject {
        JSONObject(
            entries.map { name, entry in
                let value: JSONValue =
                    switch entry {
                    case .value(let value): value
                    case .table(let table): .object(table.object)
                    case .list(let list): .array(list.tables.map { .object($0.object) })
                    }
                return (key: String(decoding: name, as: UTF8.self), value: value)
            })
    }
}
#endif
