import ArgumentParser
import Foundation
import HTTPTypes
import Handshake
import OAuth

struct SendRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "request", abstract: "Send an authorized request and print the answer's content.",
        discussion: "A status of 400 or more is printed too, and gives exit status 4.")

    @Argument(help: "GET, POST, …")
    var method: String

    @Argument(help: "The whole address, or a path below the service's API.")
    var url: String

    @Option(help: "The account to send it for.")
    var account: String

    @Option(name: .customShort("H"), help: ArgumentHelp("A header field; repeatable.", valueName: "Name: value"))
    var header: [String] = []

    @Option(
        name: .customShort("d"),
        help: ArgumentHelp("The content, @FILE for a file's, @- for standard input's.", valueName: "data"))
    var data: String?

    @Flag(name: .customShort("i"), help: "Print the status and the header fields before the content.")
    var include = false

    @Option(help: ArgumentHelp("The longest answer that is read.", valueName: "bytes"))
    var maxSize: Int = 64 << 20

    @Option(help: ArgumentHelp("How long the answer may take.", valueName: "seconds"))
    var timeout: Int = 60

    @OptionGroup var common: CommonOptions

    func run() async throws {
        guard let method = HTTPRequest.Method(method.uppercased()) else {
            throw CommandError.usage("“\(method)” is not an HTTP method")
        }
        guard maxSize > 0 else { throw CommandError.usage("--max-size is positive") }
        guard (1...86_400).contains(timeout) else { throw CommandError.usage("--timeout is 1 to 86400 seconds") }
        let vault = try await common.openVault(try Settings.load())
        let known = try await KnownAccount.open(account, in: vault)
        let content = try readContent()
        var headers = try readHeaders()
        if content != nil, headers[.contentType] == nil { headers[.contentType] = "application/x-www-form-urlencoded" }
        let response = try await known.use { account in
            try await account.send(
                method, url, headers: headers, content: content.map { .bytes($0) } ?? .none,
                limits: TransferLimits(maximumContentLength: maxSize, deadline: .seconds(timeout)))
        }
        try print(response)
    }

    private func print(_ response: ResponseMessage) throws {
        let status = response.head.status
        if common.json {
            Output.result(
                JSONText.object([
                    ("status", .integer(Int64(status.code))),
                    (
                        "headers",
                        .array(
                            response.head.headerFields.map { .array([.string($0.name.rawName), .string($0.value)]) })
                    ),
                    ("body", .string(String(decoding: response.content, as: UTF8.self))),
                ]).text)
        } else {
            if include {
                Output.result("HTTP \(status.code)\(status.reasonPhrase.isEmpty ? "" : " \(status.reasonPhrase)")")
                for field in response.head.headerFields {
                    Output.result("\(field.name.rawName): \(quoted(field.value, limit: 8192))")
                }
                Output.result("")
            }
            Output.result(bytes: response.content)
        }
        if status.code >= 400 { throw OAuthError.server(ServerError(step: .resource, response)) }
    }

    private func readHeaders() throws -> HTTPFields {
        var fields = HTTPFields()
        for line in header {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
                throw CommandError.usage("-H takes 'Name: value', not “\(quoted(line, limit: 80))”")
            }
            let value = parts[1].trimmingCharacters(in: .whitespaces)
            guard HTTPField.isValidValue(value) else {
                throw CommandError.usage("the value of \(name) has a character that a header cannot carry")
            }
            guard !["authorization", "host", "content-length", "transfer-encoding"].contains(name.canonicalName) else {
                throw CommandError.usage("the header \(name) is set by the command itself")
            }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }

    private func readContent() throws -> [UInt8]? {
        guard let data else { return nil }
        guard data.hasPrefix("@") else { return Array(data.utf8) }
        let path = String(data.dropFirst())
        if path == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
        guard let content = FileManager.default.contents(atPath: Settings.absolute(path)) else {
            throw CommandError.usage("\(path) cannot be read")
        }
        return Array(content)
    }
}
