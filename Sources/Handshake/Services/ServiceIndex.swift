/// Where each of the built-in services stands in ``ServiceLines``. Made once, from the names alone; no line is read for it.
enum ServiceIndex {
    private struct Line {
        let name: Range<Int>
        let all: Range<Int>
    }

    private static let prefix = Array(#"{"name":""#.utf8)

    private static let lines: [Line] = bytes { text in
        var lines: [Line] = []
        var start = 0
        while start < text.count {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            let name = start + prefix.count
            if name < end, let nameEnd = text[name..<end].firstIndex(of: UInt8(ascii: "\"")) {
                lines.append(Line(name: name..<nameEnd, all: start..<end))
            }
            start = end + 1
        }
        return lines
    }

    /// The line of a service; nil when there is none.
    static func line(named name: String) -> [UInt8]? {
        let wanted = Array(name.utf8)
        let lines = lines
        return bytes { text in
            var (low, high) = (0, lines.count)
            while low < high {
                let middle = (low + high) / 2
                let isBefore = text[lines[middle].name].lexicographicallyPrecedes(wanted)
                if isBefore { low = middle + 1 } else { high = middle }
            }
            guard low < lines.count, text[lines[low].name].elementsEqual(wanted) else { return nil }
            return Array(text[lines[low].all])
        }
    }

    /// All lines, by name.
    static var all: [[UInt8]] {
        let lines = lines
        return bytes { text in lines.map { Array(text[$0.all]) } }
    }

    /// The names of the services that can be signed in to.
    static var supportedNames: [String] {
        let (lines, mark) = (lines, Array(#","unsupported":"#.utf8))
        return bytes { text in
            lines.compactMap { line in
                // A reason stands right behind the title.
                let start = text[line.all].dropFirst(line.name.count).prefix(200)
                return start.contains(mark) ? nil : String(decoding: text[line.name], as: UTF8.self)
            }
        }
    }

    /// The text's own bytes. A literal has them in one piece.
    private static func bytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        ServiceLines.text.utf8.withContiguousStorageIfAvailable(body)
            ?? Array((ServiceLines.text + "").utf8).withUnsafeBufferPointer(body)
    }
}
