import Handshake
import OAuth

/// The members of an object in an answer of the Recurse Center. A number may be a string and vice versa, and a member of the
/// wrong type counts as absent unless it is required (dossier 4.3).
typealias Members = JSONMembers<RecurseCenterError>

extension Members {
    /// A text that is not empty, or a number in its own notation.
    func text(_ name: String) -> String? { lenientText(name).flatMap { $0.isEmpty ? nil : $0 } }

    /// An integer, or a string of its digits.
    func integer(_ name: String) -> Int64? { self[name]?.lenientInteger }

    func date(_ name: String) -> CalendarDate? { self[name]?.string.flatMap { CalendarDate($0) } }

    /// The object under a name.
    func object(_ name: String) -> Members? {
        self[name]?.object.map { Members($0, answer: answer, place: place + name) }
    }
}

extension JSONValue {
    /// The elements of an answer that must be a list of objects.
    func list<Element>(
        of answer: String, _ read: (Members) throws(RecurseCenterError) -> Element
    ) throws(RecurseCenterError) -> [Element] {
        let array = try Members.list(self, answer: answer)
        var elements: [Element] = []
        elements.reserveCapacity(array.count)
        for (index, value) in array.enumerated() {
            elements.append(try read(try Members(value, answer: answer, place: "[\(index)]")))
        }
        return elements
    }
}
