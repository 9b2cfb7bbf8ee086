import IoTCore
import NIOCore

/// What somebody wants to see of a camera.
struct ViewerWish: Sendable {
    var source = ChannelSource.main
    /// In order of preference; `nil` for `high`.
    var definitions: [WantedDefinition]?
}

extension CameraStream {
    /// The first wanted definition that the camera has. Opens its source.
    ///
    /// - Throws: 25133 if the camera has none of them; 20009 if there is no such source, or nobody is in a live call with
    ///   the camera.
    func choose(_ wish: ViewerWish) throws(IoTError) -> CameraDefinitions.Choice {
        switch wish.source {
        case .main: return try definitions.choose(wish.definitions)
        case .camera(let number): return try definitions.choose(camera: number, wish.definitions)
        case .caller: break
        }
        let rendition = try callerRendition()
        guard wish.definitions?.contains(.named(.high)) != false else {
            throw IoTError(.definitionUnavailable, remedy: "the caller of a live call has only the definition high")
        }
        return CameraDefinitions.Choice(definition: .high, rendition: rendition)
    }

    /// Completes when the tracks of what is wanted are known. Opens its source.
    func untilReady(_ wish: ViewerWish) -> EventLoopFuture<Void> {
        guard wish.source == .main, let wanted = wish.definitions, definitions.dependsOnHeights(wanted) else {
            return untilChosenIsReady(wish)
        }
        return definitions.untilHeightsAreKnown().assumeIsolated().flatMap { [self] in untilChosenIsReady(wish) }
            .nonisolated()
    }

    private func untilChosenIsReady(_ wish: ViewerWish) -> EventLoopFuture<Void> {
        do throws(IoTError) {
            return try choose(wish).rendition.untilReady()
        } catch {
            return eventLoop.makeFailedFuture(error)
        }
    }

    /// Completes when it is known whether the wanted pictures are reordered.
    func untilOrderIsKnown(_ wish: ViewerWish) -> EventLoopFuture<Void> {
        guard let choice = try? choose(wish), choice.definition != .audio else {
            return eventLoop.makeSucceededVoidFuture()
        }
        return choice.rendition.untilOrderIsKnown()
    }
}
