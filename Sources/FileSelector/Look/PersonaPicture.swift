public import Sequencing

/// The picture of a sample's made-up person.
///
/// It is an initial in a ring of arcs, as of a genome drawn in a circle. One identifier has one picture. The web component draws the same.
public struct PersonaPicture: Sendable, Hashable {
    /// The hue of the picture, in degrees.
    public let hue: Int
    /// The ring, clockwise from the top. The parts share a full turn.
    public let arcs: [Arc]
    /// The first letter or digit of the name, in upper case. Empty without one.
    public let initial: String

    /// One arc of the ring.
    public struct Arc: Sendable, Hashable {
        /// The gap before the arc, in parts of the ring.
        public let gap: Int
        /// The length of the arc, in parts of the ring.
        public let sweep: Int
        /// The width of the line, from 1 to 3.
        public let weight: Int
    }

    /// Creates the picture of a sample.
    public init(of file: GeneticFile) {
        self.init(id: file.id.string, name: file.personaName)
    }

    init(id: String, name: String?) {
        var random = Numbers(id)
        hue = random.next(360)
        arcs = (0..<FileSelectorLook.standard.picture.arcs).map { _ in
            Arc(gap: 5 + random.next(6), sweep: 14 + random.next(40), weight: 1 + random.next(3))
        }
        let first = name?.unicodeScalars.first { $0.isLetterOrNumber }
        initial = first?.properties.uppercaseMapping ?? ""
    }

    /// Where each arc begins and ends, in turns from 0 to 1.
    var turns: [(start: Double, end: Double, weight: Int)] {
        let total = Double(arcs.reduce(0) { $0 + $1.gap + $1.sweep })
        var at = 0
        return arcs.map { arc in
            let start = at + arc.gap
            at = start + arc.sweep
            return (Double(start) / total, Double(at) / total, arc.weight)
        }
    }

    /// Numbers that follow from a text: FNV-1a, then xorshift, both of 32 bits.
    private struct Numbers {
        private var state: UInt32 = 0x811C_9DC5

        init(_ text: String) {
            for byte in text.utf8 { state = (state ^ UInt32(byte)) &* 0x0100_0193 }
            if state == 0 { state = 1 }
        }

        mutating func next(_ count: UInt32) -> Int {
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            return Int(state % count)
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isLetterOrNumber: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            true
        default: false
        }
    }
}
