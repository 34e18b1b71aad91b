#if Sandbox
import HTTPTypes
import SandboxCore
import Synchronization

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
                    body: image)
            }
        ]
    }

    private static func image(_ name: String) -> [UInt8]? {
        guard name.hasSuffix(".png") else { return nil }
        let stem = String(name.dropLast(4))
        if stem.hasPrefix("cover") {
            return Int(stem.dropFirst(5)).flatMap { coverWidths.contains($0) ? cover(width: $0) : nil }
        }
        if stem.hasPrefix("feature_") {
            return icon(Pictogram.feature(String(stem.dropFirst("feature_".count))), ink: [0x33, 0x33, 0x33])
        }
        let isMonochrome = stem.hasSuffix("_mono")
        let id = isMonochrome ? String(stem.dropLast(5)) : stem
        guard let service = ConnectionFixtures.services.first(where: { $0.id == id }), service.hasIcons else {
            return nil
        }
        return icon(Pictogram.service(id), ink: isMonochrome ? [0xFF, 0xFF, 0xFF] : components(service.safeBrandColor))
    }

    private static func icon(_ shape: Shape, ink: [UInt8]) -> [UInt8] {
        let size = Double(iconSize)
        return PNGImage(width: iconSize, height: iconSize, ink: ink) { x, y in
            0.5 - shape.distance((Double(x) + 0.5) / size, (Double(y) + 0.5) / size) * size
        }.bytes
    }

    /// Covers that were drawn; a large one takes seconds.
    private static let covers = Mutex<[Int: [UInt8]]>([:])

    private static func cover(width: Int) -> [UInt8] {
        if let drawn = covers.withLock({ $0[width] }) { return drawn }
        let drawn = CoverPicture.png(width: width).bytes
        covers.withLock { $0[width] = drawn }
        return drawn
    }

    private static func components(_ color: String) -> [UInt8] {
        let digits = Array(color.dropFirst())
        return stride(from: 0, to: 6, by: 2).map { UInt8(String(digits[$0..<$0 + 2]), radix: 16) ?? 0 }
    }
}
#endif
