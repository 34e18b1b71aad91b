#if Sandbox
import HTTPTypes
import SandboxCore

/// Icons and covers, drawn when they are asked for (IFTTT Connect dossier, row S21).
///
/// Addresses below `/assets/missing` and all unknown names are 404.
struct ImageRoutes: Sendable {
    static let coverWidths = [480, 720, 1080, 1440, 2160, 2880]
    private static let iconSize = 96

    var routes: [Route] {
        [
            Route("GET", path: "/assets/{name}", note: "icons and covers as PNG") { request in
                guard let image = Self.image(request.variables["name"] ?? "") else {
                    return Refusal.notFound.answer
                }
                return Answer(
                    status: 200,
                    headers: [
                        .contentType: "image/png", .cacheControl: "max-age=3600", .xContentTypeOptions: "nosniff",
                    ],
                    body: image.bytes)
            }
        ]
    }

    private static func image(_ name: String) -> PNGImage? {
        guard name.hasSuffix(".png") else { return nil }
        let stem = String(name.dropLast(4))
        if stem.hasPrefix("cover") {
            return Int(stem.dropFirst(5)).flatMap { coverWidths.contains($0) ? cover(width: $0) : nil }
        }
        if stem.hasPrefix("feature_") { return icon(stem, ink: [0x33, 0x33, 0x33]) }
        let isMonochrome = stem.hasSuffix("_mono")
        let id = isMonochrome ? String(stem.dropLast(5)) : stem
        guard let service = ConnectionFixtures.services.first(where: { $0.id == id }), service.hasIcons else {
            return nil
        }
        return icon(id, ink: isMonochrome ? [0xFF, 0xFF, 0xFF] : components(service.safeBrandColor))
    }

    /// A figure of five by five squares with a mirror axis; the name decides which are set.
    private static func icon(_ name: String, ink: [UInt8]) -> PNGImage {
        let bits = name.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 } >> 20
        let cell = iconSize / 6
        return PNGImage(width: iconSize, height: iconSize, ink: ink, ground: nil) { x, y in
            let column = (x - cell / 2) / cell
            let row = (y - cell / 2) / cell
            guard x >= cell / 2, y >= cell / 2, column < 5, row < 5 else { return false }
            let mirrored = min(column, 4 - column)
            return (mirrored == 2 && row == 2) || bits >> (row * 3 + mirrored) & 1 == 1
        }
    }

    /// Leaves in a row, twice as wide as high (section 1.5).
    private static func cover(width: Int) -> PNGImage {
        let height = width / 2
        return PNGImage(width: width, height: height, ink: [0x2B, 0x8A, 0x3E], ground: [0xE6, 0xF4, 0xEA]) { x, y in
            let cell = height / 3
            let (u, v) = (x % cell - cell / 2, y % cell - cell / 2)
            return u * u * 4 + v * v < cell * cell / 5
        }
    }

    private static func components(_ color: String) -> [UInt8] {
        let digits = Array(color.dropFirst())
        return stride(from: 0, to: 6, by: 2).map { UInt8(String(digits[$0..<$0 + 2]), radix: 16) ?? 0 }
    }
}
#endif
