#if os(Linux) || os(macOS)
import AsyncSupport
import Foundation
public import OAuth

/// The user's own browser, opened with the desktop's opener. That is `$BROWSER` or `xdg-open` on Linux, `open` on
/// macOS.
///
/// It shows the page and no more: the redirect arrives at the loopback listener.
public struct SystemBrowser: Browser {
    private let environment: [String: String]

    /// Creates a browser that is found through the environment.
    ///
    /// - Parameter environment: where `BROWSER` and `PATH` are looked up; the process's own unless stated.
    public init(environment: [String: String]? = nil) {
        self.environment = environment ?? ProcessInfo.processInfo.environment
    }

    /// Opens the page.
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when there is no opener, or it fails within 5 s.
    public func show(_ page: SignInPage) async throws -> String? {
        try await show(page.url)
        return nil
    }

    /// Opens a page that is no sign-in: a profile, a manual.
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when there is no opener, or it cannot be started.
    ///   How it ends is not awaited.
    public func open(_ address: EndpointURL) throws(HandshakeError) {
        try start(address.string) { _ in }
    }

    /// Opens a page, and waits for the opener's end: it fails soon, or runs on as the browser itself.
    ///
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when there is no opener, or it fails before the
    ///   timeout.
    func show(_ address: String, timeout: Duration = .seconds(5)) async throws {
        let (ends, announce) = AsyncStream.makeStream(of: Int32.self)
        let opener = try start(address) { status in
            announce.yield(status)
            announce.finish()
        }
        // A sign-in whose redirect has arrived cancels this, and nothing has failed.
        let status = try? await within(timeout, on: ContinuousClock()) { () async throws -> Int32 in
            for await status in ends { return status }
            throw CancellationError()
        }
        guard let status, status != 0 else { return }
        throw HandshakeError.configuration(
            member: "browser",
            problem: "\(opener) failed with status \(status); show the address with PrintingBrowser")
    }

    /// Starts the opener.
    ///
    /// - Parameter ended: gets its exit status, or the number of the signal that ended it.
    /// - Returns: the opener's path.
    @discardableResult
    private func start(
        _ address: String, ended: @escaping @Sendable (_ status: Int32) -> Void
    ) throws(HandshakeError) -> String {
        guard EndpointURL.isSafeToOpen(address) else {
            throw HandshakeError.configuration(
                member: "browser",
                problem:
                    "the page's address was not opened, because a program could take part of it for an option or a command; "
                    + "report it to the service")
        }
        guard let opener = Self.opener(in: environment) else {
            throw HandshakeError.configuration(
                member: "browser",
                problem:
                    "no browser can be opened from here; show the address with PrintingBrowser, or call signInOnAnotherDevice"
            )
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: opener)
        process.arguments = [address]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.terminationHandler = { ended($0.terminationStatus) }
        do {
            try process.run()
        } catch {
            throw HandshakeError.configuration(
                member: "browser", problem: "\(opener) could not be started; show the address with PrintingBrowser")
        }
        return opener
    }

    /// Whether this machine has something that opens a browser.
    public static func opener(in environment: [String: String]) -> String? {
        #if os(macOS)
        return "/usr/bin/open"
        #else
        // An entry of BROWSER may be a list divided by colons; commands with arguments are for shells.
        let wanted = (environment["BROWSER"] ?? "").split(separator: ":").map(String.init).filter {
            !$0.contains(" ")
        }
        let hasDisplay = environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil
        let candidates = wanted + (hasDisplay ? ["xdg-open"] : [])
        let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map(
            String.init)
        for candidate in candidates {
            let paths = candidate.hasPrefix("/") ? [candidate] : folders.map { $0 + "/" + candidate }
            if let path = paths.first(where: FileManager.default.isExecutableFile(atPath:)) { return path }
        }
        return nil
        #endif
    }
}

extension Browser where Self == SystemBrowser {
    /// The user's own browser.
    public static var systemBrowser: SystemBrowser { SystemBrowser() }
}
#endif
