#if Sandbox
import SandboxCore

/// A JSON value that is made of values and their places, which are JSON Pointers (RFC 6901).
///
/// An object whose only member is `0` is the list with one element.
struct PlacedJSON {
    private struct Child {
        let name: String
        var tree: PlacedJSON
    }

    private var value: JSON?
    private var children: [Child] = []

    mutating func set(_ value: JSON, at pointer: String) {
        let parts = pointer.split(separator: "/").map {
            String($0).replacing("~1", with: "/").replacing("~0", with: "~")
        }
        set(value, at: parts[...])
    }

    private mutating func set(_ value: JSON, at parts: ArraySlice<String>) {
        guard let name = parts.first else {
            self.value = value
            return
        }
        if let index = children.firstIndex(where: { $0.name == name }) {
            children[index].tree.set(value, at: parts.dropFirst())
        } else {
            var tree = PlacedJSON()
            tree.set(value, at: parts.dropFirst())
            children.append(Child(name: name, tree: tree))
        }
    }

    var json: JSON {
        if let value, children.isEmpty { return value }
        if children.count == 1, let only = children.first, only.name == "0" { return .array([only.tree.json]) }
        return .object(children.map { JSON.Member(name: $0.name, value: $0.tree.json) })
    }
}

extension JSON {
    /// Whether it is an object with a member of this name, which is not null.
    func has(_ name: String) -> Bool {
        if case .some = self[name] { true } else { false }
    }

    /// The members of a flat object as a form has them; nil for anything else.
    var formPairs: [(name: String, value: String)]? {
        guard case .object(let members) = self else { return nil }
        var pairs: [(name: String, value: String)] = []
        for member in members {
            if case .bool(let flag) = member.value {
                pairs.append((member.name, flag ? "true" : "false"))
            } else if let text = member.value.scalarText {
                pairs.append((member.name, text))
            } else {
                return nil
            }
        }
        return pairs
    }
}
#endif
