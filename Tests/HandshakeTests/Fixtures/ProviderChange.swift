import Testing

/// A change of what a provider answers, and the code of the error that has to come of it.
struct ProviderChange: Sendable, CustomTestStringConvertible {
    let name: String
    let change: @Sendable (inout ScriptedProvider.State) -> Void
    let code: String
    var testDescription: String { name }
}
