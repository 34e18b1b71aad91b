/// Where consent, the installation's identifier and what is not sent yet rest between two runs of an app.
public struct AnalyticsStorage: Sendable {
    let load: @Sendable () async -> [UInt8]?
    let save: @Sendable ([UInt8]?) async -> Void

    /// Names a place. It need not be secret: it holds no token and no person.
    ///
    /// - Parameters:
    ///   - load: what was saved last; nil when there is nothing, or it cannot be read.
    ///   - save: keeps the bytes, or removes them for nil. What cannot be kept is lost, and no more happens.
    public init(
        load: @escaping @Sendable () async -> [UInt8]?, save: @escaping @Sendable ([UInt8]?) async -> Void
    ) {
        self.load = load
        self.save = save
    }

    /// Nowhere: consent is asked for again in every run.
    public static let none = AnalyticsStorage(load: { nil }, save: { _ in })
}
