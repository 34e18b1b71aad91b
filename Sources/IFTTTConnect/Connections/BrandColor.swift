/// The colour of a service, opaque (dossier 1.2). Red, green and blue run from 0 to 255.
public struct BrandColor: Sendable, Hashable, Codable {
    public let red: UInt8
    public let green: UInt8
    public let blue: UInt8

    /// Opaque black, the fallback for invalid colours.
    public static let black = BrandColor(red: 0, green: 0, blue: 0)

    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// Parses the service's notation. Surrounding white space and `#` are removed; anything but exactly six hexadecimal digits
    /// is black.
    public init(reading text: String) {
        let digits = text.drop(while: Self.isTrimmed).reversed().drop(while: Self.isTrimmed).reversed()
        guard digits.count == 6 else {
            self = .black
            return
        }
        var value: UInt32 = 0
        for character in digits {
            guard character.isASCII, let digit = character.hexDigitValue else {
                self = .black
                return
            }
            value = value << 4 | UInt32(digit)
        }
        self.init(
            red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
            blue: UInt8(truncatingIfNeeded: value))
    }

    private static func isTrimmed(_ character: Character) -> Bool {
        character == "#" || character.isWhitespace
    }
}

extension BrandColor: CustomStringConvertible {
    /// `#rrggbb` in lower case.
    public var description: String {
        "#"
            + [red, green, blue].map { component in
                let digits = String(component, radix: 16)
                return digits.utf8.count == 1 ? "0" + digits : digits
            }.joined()
    }
}
