/// Stores consent, the anonymous ID and unsent events between runs of an app.
public struct AnalyticsStorage: Sendable {
    let load: @Sendable () async -> [UInt8]?
    let save: @Sendable ([UInt8]?) async -> Void

    /// Creates a storage. It need not be secret: it contains no token and no personal data.
    ///
    /// - Parameters:
    ///   - load: the bytes saved last; nil when there are none, or they cannot be read.
    ///   - save: saves the bytes, or deletes them for nil. A failure only loses the events.
    public init(
        load: @escaping @Sendable () async -> [UInt8]?, save: @escaping @Sendable ([UInt8]?) async -> Void
    ) {
        self.load = load
        self.save = save
    }

    /// No storage: every run asks for consent again.
    public static let none = AnalyticsStorage(load: { nil }, save: { _ in })
}
