import Handshake
import OAuth

/// The members of an object in an answer of the Recurse Center. A number may be spelled as a text and the other way round, and a
/// member of the wrong type counts as absent unless it is required (dossier 4.3).
typealias Members = JSONMembers<RecurseCenterError>

extension Members {
    /// A text that is not empty, or a number in its own spelling.
    func text(_ name: String) -> String? { lenientText(name).flatMap { $0.isEmpty ? nil : $0 } }

    /// A whole number, or its digits as a text.
    func integer(_ name: String) -> Int64? { self[name]?.lenientInteger }

    func date(_ name: String) -> CalendarDate? { self[name]?.string.flatMap { CalendarDate($0) } }

    /// The object under a name.
    func object(_ name: String) -> Members? {
        self[name]?.object.map { Members($0, answer: answer, place: place + name) }
    }
}

extension JSONValue {
    /// The elements of an answer that must be a list, each read as an object.
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
