extension Connection {
    /// The picture of a connection in several widths, twice as wide as high (dossier 1.5).
    public struct CoverImage: Sendable, Hashable, Codable {
        /// Every width that the service knows, in pixels.
        public static let widths = [480, 720, 1080, 1440, 2160, 2880, 4320]

        /// The pictures there are, by width in pixels.
        public let urls: [Int: WebAddress]

        /// States the pictures, by width in pixels.
        public init(urls: [Int: WebAddress]) {
            self.urls = urls
        }

        /// The width that fits a place of the given width best: the largest below 1.2 times the place's pixels, and 480
        /// when none is.
        ///
        /// - Parameters:
        ///   - layoutWidth: the width of the place, in points.
        ///   - scale: pixels a point. A product that is no positive number counts as nothing.
        public static func bestWidth(layoutWidth: Double, scale: Double) -> Int {
            let limit = (layoutWidth * scale * 1.2).rounded(.towardZero)
            return widths.last { Double($0) < limit } ?? widths[0]
        }

        /// The picture that fits a place best; nil when the service has none of that width.
        ///
        /// - Parameters:
        ///   - layoutWidth: the width of the place, in points.
        ///   - scale: pixels a point.
        public func url(layoutWidth: Double, scale: Double) -> WebAddress? {
            urls[Self.bestWidth(layoutWidth: layoutWidth, scale: scale)]
        }
    }
}
