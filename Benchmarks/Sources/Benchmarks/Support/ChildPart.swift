/// What this program does when a benchmark has started it once more, in a process of its own.
enum ChildPart {
    /// Sends requests of an account in a shared file vault, whenever it is told to.
    case stampede(origin: String, folder: String, requests: Int)
    /// Reads the files of a vault without understanding them.
    case readFiles(folder: String)
    /// Updates records until it is killed.
    case updateVault(folder: String, sequence: Int)
    /// Starts a sandbox, for the first time in its life.
    case startSandbox
    /// Serves routes until it is killed.
    case serveRoutes
    /// Starts a program from a small process and tells how much memory it took.
    case weigh(path: String, arguments: [String])

    /// The part that the arguments ask for; nil when this process is no child.
    init?(_ arguments: [String]) {
        guard arguments.count > 2, arguments[1] == "child" else { return nil }
        let rest = Array(arguments[3...])
        switch (arguments[2], rest.count) {
        case ("stampede", 3): self = .stampede(origin: rest[0], folder: rest[1], requests: Int(rest[2]) ?? 0)
        case ("read-files", 1): self = .readFiles(folder: rest[0])
        case ("update-vault", 2): self = .updateVault(folder: rest[0], sequence: Int(rest[1]) ?? 0)
        case ("start-sandbox", 0): self = .startSandbox
        case ("serve-routes", 0): self = .serveRoutes
        case ("weigh", 1...): self = .weigh(path: rest[0], arguments: Array(rest[1...]))
        default: return nil
        }
    }

    /// The arguments that ask for this part.
    var arguments: [String] {
        switch self {
        case .stampede(let origin, let folder, let requests): ["child", "stampede", origin, folder, "\(requests)"]
        case .readFiles(let folder): ["child", "read-files", folder]
        case .updateVault(let folder, let sequence): ["child", "update-vault", folder, "\(sequence)"]
        case .startSandbox: ["child", "start-sandbox"]
        case .serveRoutes: ["child", "serve-routes"]
        case .weigh(let path, let arguments): ["child", "weigh", path] + arguments
        }
    }

    /// Starts this program once more in this part.
    func start() throws -> ChildProcess {
        try ChildProcess(ChildProcess.ourselves, arguments)
    }

    /// Starts this program once more in this part and takes the numbers of the one line that it prints.
    func numbers() throws -> [Double] {
        let child = try start()
        let line = child.readLine()
        guard child.wait().status == 0, let line else { throw Failure("the part \(arguments[1]) failed") }
        return line.split(separator: " ").compactMap { Double($0) }
    }

    func play() async throws {
        switch self {
        case .stampede(let origin, let folder, let requests):
            try await Stampede.playChild(origin: origin, folder: folder, requests: requests)
        case .readFiles(let folder): try VaultReading.readFiles(folder: folder)
        case .updateVault(let folder, let sequence): try await VaultKilling.update(folder: folder, from: sequence)
        case .startSandbox: try await SandboxStart.playChild()
        case .serveRoutes: try await ServerRoutes.playChild()
        case .weigh(let path, let arguments):
            let (_, ending) = try ChildProcess.run(path, arguments)
            guard ending.status == 0 else { throw Failure("\(path) failed") }
            print(ending.peakResident)
        }
    }
}
