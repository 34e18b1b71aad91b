#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A colour, with arithmetic in hue, saturation and brightness (dossier 4.3).
///
/// Components run from 0 to 1 in sRGB.
public struct ConnectButtonColor: Sendable, Hashable {
    public let red: Double
    public let green: Double
    public let blue: Double

    /// Creates a colour from components, clamped to 0…1; NaN is 0.
    ///
    /// - Parameters:
    ///   - red: Red, from 0 to 1.
    ///   - green: Green, from 0 to 1.
    ///   - blue: Blue, from 0 to 1.
    public init(red: Double, green: Double, blue: Double) {
        func clamped(_ value: Double) -> Double { value.isFinite ? min(max(value, 0), 1) : 0 }
        self.red = clamped(red)
        self.green = clamped(green)
        self.blue = clamped(blue)
    }

    /// Parses IFTTT's notation. Surrounding whitespace and `#` are dropped; anything but exactly six hexadecimal digits is
    /// black (IFTTT dossier 1.2).
    ///
    /// - Parameter text: Text such as `#0099ff`.
    public init(_ text: String) {
        let digits = text.unicodeScalars.drop(while: Self.isPadding).reversed().drop(while: Self.isPadding).reversed()
        let values = digits.compactMap { scalar in scalar.isASCII ? Character(scalar).hexDigitValue : nil }
        guard digits.count == 6, values.count == 6 else {
            self = .black
            return
        }
        self.init(
            red: Double(values[0] * 16 + values[1]) / 255, green: Double(values[2] * 16 + values[3]) / 255,
            blue: Double(values[4] * 16 + values[5]) / 255)
    }

    private static func isPadding(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "#" || scalar.properties.isWhitespace
    }

    /// White.
    public static let white = ConnectButtonColor(red: 1, green: 1, blue: 1)
    /// Black.
    public static let black = ConnectButtonColor(red: 0, green: 0, blue: 0)

    /// The colour as `#RRGGBB`.
    public var hexadecimal: String {
        let digits = Array("0123456789ABCDEF")
        return [red, green, blue].reduce(into: "#") { text, value in
            let byte = Int((value * 255).rounded())
            text.append(digits[byte / 16])
            text.append(digits[byte % 16])
        }
    }

    /// Brightness, the B of HSB.
    public var brightness: Double { max(red, green, blue) }

    /// The same hue and saturation with another brightness, clamped to 0…1.
    func withBrightness(_ wanted: Double) -> ConnectButtonColor {
        let wanted = min(max(wanted, 0), 1)
        // Black has no hue: it becomes a grey.
        guard brightness > 0 else { return ConnectButtonColor(red: wanted, green: wanted, blue: wanted) }
        let factor = wanted / brightness
        return ConnectButtonColor(red: red * factor, green: green * factor, blue: blue * factor)
    }

    /// A colour that stands out from this one. It is darker by `down`, or lighter by `up` when this one is nearly black
    /// (IFTTT dossier 4.3: brightness below 0.25).
    ///
    /// - Parameters:
    ///   - up: How much lighter a dark colour becomes.
    ///   - down: How much darker any other becomes.
    public func contrasting(up: Double = 0.08, down: Double = 0.15) -> ConnectButtonColor {
        withBrightness(brightness < 0.25 ? brightness + up : brightness - down)
    }

    /// Whether brightnesses differ by 0.2 or less. A difference of 0.2 as written counts as too close, whatever floating
    /// point makes of it (IFTTT dossier 12).
    func isTooClose(to track: ConnectButtonColor) -> Bool {
        abs(brightness - track.brightness) < 0.2 + 1e-9
    }

    /// A mixture with another colour, which has the share `share`, from 0 to 1.
    func mixed(with other: ConnectButtonColor, share: Double) -> ConnectButtonColor {
        ConnectButtonColor(
            red: red + (other.red - red) * share, green: green + (other.green - green) * share,
            blue: blue + (other.blue - blue) * share)
    }

    /// Relative luminance (WCAG 2.2).
    public var luminance: Double {
        func linear(_ value: Double) -> Double {
            value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    /// The contrast ratio with another colour, from 1 to 21 (WCAG 2.2).
    ///
    /// - Parameter other: The other colour.
    public func contrast(with other: ConnectButtonColor) -> Double {
        let (one, two) = (luminance, other.luminance)
        return (max(one, two) + 0.05) / (min(one, two) + 0.05)
    }
}

extension ConnectButtonColor: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hexadecimal)
    }
}
