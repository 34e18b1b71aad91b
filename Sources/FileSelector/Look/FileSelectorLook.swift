import HandshakeEmbeddedFiles
import Translations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The look of the selector as data: `Look.json`, which the web component reads too.
struct FileSelectorLook: Decodable, Sendable {
    /// Colours by role: for the light and the dark appearance.
    let colors: [String: [FileSelectorColor]]
    /// The radius of the card's corners, in points.
    let radius: Double
    /// The smallest height of a control, in points.
    let control: Double
    let picture: Picture

    /// The look of a persona's picture.
    struct Picture: Decodable, Sendable {
        /// Its width and height, in points.
        let size: Double
        /// How many arcs its ring has.
        let arcs: Int
        /// The radius of its ring, in points.
        let ring: Double
        /// The saturation of its colours, in percent.
        let saturation: Double
    }

    /// The look that is embedded in the code.
    static let standard = FileSelectorLook(Data(.fileSelectorLook))

    private init(_ file: Data) {
        let plain = Picture(size: 44, arcs: 7, ring: 18, saturation: 52)
        let decoded = try? JSONDecoder().decode(FileSelectorLook.self, from: file)
        self = decoded ?? FileSelectorLook(colors: [:], radius: 14, control: 44, picture: plain)
    }

    private init(colors: [String: [FileSelectorColor]], radius: Double, control: Double, picture: Picture) {
        self.colors = colors
        self.radius = radius
        self.control = control
        self.picture = picture
    }

    /// The colour of a role.
    func color(_ role: String, dark: Bool) -> FileSelectorColor {
        guard let pair = colors[role], pair.count == 2 else { return .grey }
        return pair[dark ? 1 : 0]
    }
}

/// A colour in sRGB, written `#rrggbb`.
struct FileSelectorColor: Decodable, Sendable, Hashable {
    /// From 0 to 1.
    let red, green, blue: Double

    static let grey = FileSelectorColor(red: 0.5, green: 0.5, blue: 0.5)

    private init(red: Double, green: Double, blue: Double) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }

    init?(_ text: String) {
        guard text.utf8.count == 7, text.hasPrefix("#"), let number = UInt32(text.dropFirst(), radix: 16) else {
            return nil
        }
        let parts = [number >> 16, number >> 8, number].map { Double($0 & 0xFF) / 255 }
        (red, green, blue) = (parts[0], parts[1], parts[2])
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let color = FileSelectorColor(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a colour")
        }
        self = color
    }
}
