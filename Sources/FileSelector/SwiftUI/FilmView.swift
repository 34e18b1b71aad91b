#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import AVFoundation
import SwiftUI

/// A film that plays in a loop, without sound (dossier 4.4, D06).
///
/// It pauses while the app is not active, as the system's own players do.
struct FilmView: View {
    let url: URL
    let isPlaying: Bool

    @Environment(\.scenePhase) private var scenePhase
    @State private var player: LoopingPlayer?

    var body: some View {
        ZStack {
            if let player { PlayerLayerView(player: player.player) }
        }
        .accessibilityHidden(true)
        .onAppear {
            player = LoopingPlayer(url)
            update()
        }
        .onDisappear { player = nil }
        .onChange(of: isPlaying) { update() }
        .onChange(of: scenePhase) { update() }
    }

    private func update() {
        player?.setPlaying(isPlaying && scenePhase == .active)
    }
}

/// A player that begins again at the film's end. A file that is missing plays nothing.
///
/// A class, because the looper lives as long as the view shows the film.
@MainActor
final class LoopingPlayer {
    let player: AVQueuePlayer
    private let looper: AVPlayerLooper

    init(_ url: URL) {
        player = AVQueuePlayer()
        player.isMuted = true
        player.preventsDisplaySleepDuringVideoPlayback = false
        looper = AVPlayerLooper(player: player, templateItem: AVPlayerItem(url: url))
    }

    func setPlaying(_ isPlaying: Bool) {
        if isPlaying { player.play() } else { player.pause() }
    }
}

#if canImport(UIKit)
/// Draws a player's picture, which fills the view.
struct PlayerLayerView: UIViewRepresentable {
    let player: AVPlayer

    final class LayerView: UIView {
        override class var layerClass: AnyClass { AVPlayerLayer.self }
    }

    func makeUIView(context: Context) -> LayerView {
        let view = LayerView()
        (view.layer as? AVPlayerLayer)?.videoGravity = .resizeAspectFill
        return view
    }

    func updateUIView(_ view: LayerView, context: Context) {
        (view.layer as? AVPlayerLayer)?.player = player
    }
}
#else
/// Draws a player's picture, which fills the view.
struct PlayerLayerView: NSViewRepresentable {
    let player: AVPlayer

    func makeNSView(context: Context) -> NSView {
        let view = NSView()
        let layer = AVPlayerLayer()
        layer.videoGravity = .resizeAspectFill
        view.layer = layer
        view.wantsLayer = true
        return view
    }

    func updateNSView(_ view: NSView, context: Context) {
        (view.layer as? AVPlayerLayer)?.player = player
    }
}
#endif
#endif
