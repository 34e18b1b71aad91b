#if CommandLine
import ArgumentParser
import Foundation
import HTTPTypes
import Handshake
import OAuth

struct SendRequest: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "request", abstract: "Send an authorized request and print the body of the response.",
        discussion: """
            The body of a response with status 400 or more is printed too; the exit status is then 4. On a terminal its control \
            characters are replaced. When the API demands further scopes or another sign-in, the user at a terminal is asked for it; \
            elsewhere the error has the command.
            """)

    @Argument(help: "GET, POST, …")
    var method: String

    @Argument(help: "The URL, or a path below the service's API.")
    var url: String

    @Option(help: "The account whose token authorizes the request.")
    var account: String

    @Option(name: .customShort("H"), help: ArgumentHelp("A header field; repeatable.", valueName: "Name: value"))
    var header: [String] = []

    @Option(
        name: .customShort("d"),
        help: ArgumentHelp("The body: text, @FILE for a file, or @- for standard input.", valueName: "data"))
    var data: String?

    @Flag(name: .customShort("i"), help: "Print the status and the header fields before the body.")
    var include = false

    @Option(help: ArgumentHelp("The maximum length of the response's body.", valueName: "bytes"))
    var maxSize: Int = 64 << 20

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var common: CommonOptions

    func run() async throws {
        guard let method = HTTPRequest.Method(method.uppercased()) else {
            throw CommandError.usage("“\(quoted(method, limit: 80))” is not an HTTP method.")
        }
        guard maxSize > 0 else { throw CommandError.usage("--max-size takes a number of bytes above 0.") }
        var headers = try readHeaders()
        let vault = try await common.existingVault(try Settings.load())
        let known = try await KnownAccount.open(account, in: vault)
        let content = try await readContent()
        if content != nil, headers[.contentType] == nil {
            headers[.contentType] = "application/x-www-form-urlencoded"
        }
        do {
            let send = { [headers, maxSize, timeout, url] (account: Account) in
                let response = try await account.send(
                    method, url, headers: headers, content: content.map { .bytes($0) } ?? .none,
                    limits: TransferLimits(maximumContentLength: maxSize, timeout: .seconds(timeout)))
                return (response, account.secrets)
            }
            let (response, secrets) = try await known.use { [timeout] account in
                do {
                    return try await send(account)
                } catch {
                    // Once: what the API demands of the new sign-in is its last word.
                    guard let again = try await known.steppedUp(error, in: vault, timeout: .seconds(timeout)) else {
                        throw error
                    }
                    return try await again.use(send)
                }
            }
            try print(response, hiding: secrets)
        } catch HandshakeError.configuration(let member, let problem) where member == "url" {
            throw CommandError(
                status: .usage, code: "invalid_configuration",
                message: "\(problem): handshake request \(method) https://… --account "
                    + KnownAccount.shellWord(account))
        } catch HandshakeError.exchange(.configuration(let member, let problem)) where member == "url" {
            let shown = String(url.unicodeScalars.prefix { $0 != "?" && $0 != "#" })
            let reason = problem.hasPrefix("expected ") ? "" : ": \(problem)"
            throw CommandError(
                status: .usage, code: "invalid_configuration",
                message: "“\(quoted(shown, limit: 200))” is not an address\(reason). Write an https URL, or a path "
                    + "below the service's API.")
        }
    }

    private func print(_ response: ResponseMessage, hiding secrets: [Secret]) throws {
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
            Output.result(content: response.content)
            // An error message that follows starts on a line of its own.
            if status.code >= 400, let last = response.content.last, last != UInt8(ascii: "\n") { Output.result("") }
        }
        if status.code >= 400 { throw OAuthError.server(ServerError(step: .resource, response, hiding: secrets)) }
    }

    private func readHeaders() throws -> HTTPFields {
        var fields = HTTPFields()
        for line in header {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else {
                // Not quoted: it may be a token.
                throw CommandError.usage("-H takes 'Name: value', and one of them has no name or no colon.")
            }
            let value = parts[1].trimmingCharacters(in: .whitespaces)
            guard HTTPField.isValidValue(value) else {
                throw CommandError.usage("The value of the header “\(name)” has a character that HTTP does not allow.")
            }
            guard !["authorization", "host", "content-length", "transfer-encoding"].contains(name.canonicalName) else {
                throw CommandError.usage("The command sets the header “\(name)” itself. Leave it out.")
            }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }

    private func readContent() async throws -> [UInt8]? {
        guard let data else { return nil }
        guard data.hasPrefix("@") else { return Array(data.utf8) }
        return try await GivenFile.read(String(data.dropFirst()), limit: 1 << 28)
    }
}
#endif
