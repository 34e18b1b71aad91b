import CoreImage
import Handshake
import SwiftUI
import UIKit

/// Pairs with a person beside the user.
struct PairScreen: View {
    let companion: Companion

    @State private var pairing = Pairing()
    @State private var attempt: Task<Void, Never>?
    @State private var isScanning = false
    @State private var code = ""
    @State private var digits = ""
    @State private var name = ""

    var body: some View {
        Form {
            switch pairing.step {
            case .choosing, .failed, .done: choice
            case .showing(let code):
                if let picture = Self.picture(of: code) {
                    Image(uiImage: picture).interpolation(.none).resizable().scaledToFit()
                        .accessibilityLabel(Text("The code to scan"))
                }
                Text("Let the other person scan this code. Both devices must be in the same network.")
            case .connecting: ProgressView()
            case .comparing(let shown):
                Text("This screen shows \(shown)").font(.headline)
                TextField("The six digits of the other screen", text: $digits).keyboardType(.numbersAndPunctuation)
                Button("Compare") { pairing.compare(digits) }
                Button("They differ", role: .destructive) { pairing.compare("") }
            }
        }
        .navigationTitle("Pair")
        .sheet(isPresented: $isScanning) { CodeScanner { scan($0) } }
        .onDisappear { attempt?.cancel() }
    }

    @ViewBuilder private var choice: some View {
        if case .failed(let reason) = pairing.step { Text(reason) }
        if case .done(let name) = pairing.step { Text("You and \(name) recognise each other for 31 days.") }
        if companion.circles.isEmpty {
            Section("Your name") { TextField("As the other person knows you", text: $name) }
        }
        Section("One shows, the other scans") {
            Button("Show a code") { start { await pairing.show(in: $0) } }.disabled(isNameless)
            if CodeScanner.isSupported { Button("Scan a code") { isScanning = true }.disabled(isNameless) }
            TextField("or type it: HANDSHAKE:PAIR1/…", text: $code).textInputAutocapitalization(.never)
            Button("Pair") { scan(code) }.disabled(code.isEmpty || isNameless)
        }
    }

    /// Whether the other person would not learn whose keys these are.
    private var isNameless: Bool { companion.circles.isEmpty && name.isEmpty }

    private func scan(_ text: String) {
        isScanning = false
        start { await pairing.scan(text, in: $0) }
    }

    private func start(_ body: @escaping @MainActor (any Vault) async -> Void) {
        digits = ""
        pairing.name = name
        attempt = Task {
            do {
                await body(try await companion.open())
            } catch {
                companion.message = "\(error)"
            }
        }
    }

    private static func picture(of code: String) -> UIImage? {
        guard let filter = CIFilter(name: "CIQRCodeGenerator") else { return nil }
        filter.setValue(Data(code.utf8), forKey: "inputMessage")
        guard let image = filter.outputImage, let picture = CIContext().createCGImage(image, from: image.extent) else {
            return nil
        }
        return UIImage(cgImage: picture)
    }
}
