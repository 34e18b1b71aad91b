import OAuth

/// A call of one app chain on one file (dossier 5.2). It has the start parameters of a job.
///
/// The same chain with two files makes two calls, which can be in one run.
public struct ChainCall: Sendable, Hashable {
    public let chain: AppCode
    public let file: FileID
    /// Parameters besides `dataSourceId`.
    public let parameters: [Parameter]

    /// A further parameter of a chain: a text, or an integer (`ValueLong`).
    public struct Parameter: Sendable, Hashable {
        public let name: String
        public let value: Value

        public enum Value: Sendable, Hashable {
            case text(String)
            case number(Int64)
        }

        public init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }

        var json: JSONValue {
            switch value {
            case .text(let text): .object(["Name": .string(name), "Value": .string(text)])
            case .number(let number): .object(["Name": .string(name), "ValueLong": .number(String(number))])
            }
        }
    }

    public init(_ chain: AppCode, on file: FileID, parameters: [Parameter] = []) {
        self.chain = chain
        self.file = file
        self.parameters = parameters
    }

    /// The start parameters on the wire.
    var json: JSONValue {
        .object([
            "AppCode": .string(chain.string),
            "Pars": .array([Parameter("dataSourceId", .text(file.string)).json] + parameters.map(\.json)),
        ])
    }
}
