extension Connection {
    /// The picture of a connection in several widths (dossier 1.5). It is twice as wide as high.
    public struct CoverImage: Sendable, Hashable, Codable {
        /// The available widths in pixels.
        public static let widths = [480, 720, 1080, 1440, 2160, 2880, 4320]

        /// The URLs by width in pixels.
        public let urls: [Int: WebAddress]

        /// Creates an image from URLs by width in pixels.
        public init(urls: [Int: WebAddress]) {
            self.urls = urls
        }

        /// The width that fits a view best. It is the largest below 1.2 times the view's pixels, and 480 when there is
        /// none.
        ///
        /// - Parameters:
        ///   - layoutWidth: the width of the view, in points.
        ///   - scale: pixels per point. A product that is not a positive number counts as 0.
        public static func bestWidth(layoutWidth: Double, scale: Double) -> Int {
            let limit = (layoutWidth * scale * 1.2).rounded(.towardZero)
            return widths.last { Double($0) < limit } ?? widths[0]
        }

        /// The URL for a view; nil when the service has none of that width.
        ///
        /// - Parameters:
        ///   - layoutWidth: the width of the view, in points.
        ///   - scale: pixels per point.
        public func url(layoutWidth: Double, scale: Double) -> WebAddress? {
            urls[Self.bestWidth(layoutWidth: layoutWidth, scale: scale)]
        }
    }
}
