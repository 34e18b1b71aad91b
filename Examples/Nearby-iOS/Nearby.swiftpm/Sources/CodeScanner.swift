import AVFoundation
import SwiftUI
import Vision
import VisionKit

/// Scans a QR code with the camera.
struct CodeScanner: UIViewControllerRepresentable {
    /// Called once, with what the code says.
    let found: @MainActor (String) -> Void

    /// Whether the device has a camera for it.
    static var isSupported: Bool { DataScannerViewController.isSupported }

    func makeCoordinator() -> Coordinator { Coordinator() }

    func makeUIViewController(context: Context) -> DataScannerViewController {
        let scanner = DataScannerViewController(recognizedDataTypes: [.barcode(symbologies: [.qr])])
        context.coordinator.search = Task {
            guard await AVCaptureDevice.requestAccess(for: .video), (try? scanner.startScanning()) != nil else {
                return
            }
            for await items in scanner.recognizedItems {
                for case .barcode(let code) in items {
                    if let text = code.payloadStringValue { return found(text) }
                }
            }
        }
        return scanner
    }

    func updateUIViewController(_ scanner: DataScannerViewController, context: Context) {}

    static func dismantleUIViewController(_ scanner: DataScannerViewController, coordinator: Coordinator) {
        coordinator.search?.cancel()
        scanner.stopScanning()
    }

    @MainActor final class Coordinator {
        var search: Task<Void, Never>?
    }
}
