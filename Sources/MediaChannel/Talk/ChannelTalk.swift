import IoTCore
import MediaCodec
import MediaPlayer
import NIOCore

/// The talk of a channel's local users: one at a time. Asks the device for its loudspeaker, then sends until the source
/// ends, the user stops, or the device ends the talk. Confined to the channel's event loop.
final class ChannelTalk {
    private enum Phase {
        case asking
        case talking(TalkSender)
    }

    private struct Talk {
        let number: Int
        let use: String
        let source: any SpeechSource
        let presentation: Presentation?
        let promise: EventLoopPromise<TalkSummary>
        var phase = Phase.asking
    }

    private let eventLoop: any EventLoop
    private let capabilities: PlayerCapabilities
    private let parts: PlayerParts
    private let feed: CallFeed
    private var talk: Talk?
    private var number = 0
    /// Why the channel has ended.
    private var closeReason: IoTError?

    init(feed: CallFeed, capabilities: PlayerCapabilities, parts: PlayerParts, eventLoop: any EventLoop) {
        self.feed = feed
        self.capabilities = capabilities
        self.parts = parts
        self.eventLoop = eventLoop
    }

    /// Whether the device plays what is said, and this account may talk.
    var isOffered: Bool { feed.talkCodec != nil && capabilities.offers(.talk) }

    /// The use that talks now.
    var talker: String? { talk?.use }

    /// Talks until the source's end, and closes it. The future fails with `talkerBusy` while somebody else talks, and
    /// with the reason if the device ends the talk.
    ///
    /// - Parameter presentation: what the use hears is quiet while it talks.
    /// - Throws: After the channel's end the reason of the end.
    func start(
        _ use: String, _ source: any SpeechSource, _ presentation: Presentation? = nil
    ) throws(IoTError) -> EventLoopFuture<TalkSummary> {
        do throws(IoTError) {
            try capabilities.require(.talk)
            if let closeReason { throw closeReason }
            guard feed.talkCodec != nil else {
                throw IoTError(
                    .operationNotAllowed,
                    "the device has no loudspeaker, or this account could not talk when the "
                        + "channel was opened",
                    remedy: "ask the device's owner for the action `talk`, then open the channel again")
            }
            guard talk == nil else { throw IoTError(.talkerBusy) }
        } catch {
            source.close()
            throw error
        }
        number += 1
        let number = number
        let promise = eventLoop.makePromise(of: TalkSummary.self)
        talk = Talk(number: number, use: use, source: source, presentation: presentation, promise: promise)
        feed.control.request(.talkStart).assumeIsolated().whenComplete { [weak self] result in
            self?.answered(number, result)
        }
        return promise.futureResult
    }

    private func answered(_ number: Int, _ result: Result<JSONValue, any Error>) {
        // A talk that was stopped meanwhile has been stopped at the device, too.
        guard let talk, talk.number == number, case .asking = talk.phase else { return }
        do {
            _ = try result.get()
            guard let codec = feed.talkCodec else { throw IoTError(.channelDisconnected) }
            let sender = try TalkSender(
                talk.source, codec: codec, eventLoop: eventLoop, parts: parts,
                send: { [weak self] in self?.feed.sendSpeech($0) },
                onSpeech: { [weak self, presentation = talk.presentation] samples in
                    guard let self else { return }
                    presentation?.speak(samples, roundTrip: feed.roundTripTime, at: parts.clock())
                },
                onEnd: { [weak self] in self?.ended(number, $0) })
            self.talk?.phase = .talking(sender)
            sender.run()
        } catch {
            ended(number, .failure(error as? IoTError ?? IoTError(.internalFailure, underlying: error)))
        }
    }

    /// The user stops, or has left.
    func stop(_ use: String) {
        guard let talk, talk.use == use else { return }
        end(IoTError(.hungUp, "the talk was stopped"))
    }

    /// The device ended the talk.
    func endedByDevice(_ params: JSONValue) {
        end(IoTError(controlError: params) ?? IoTError(.hungUp))
    }

    /// The channel has ended: nobody can talk any more. The first reason stays.
    func close(_ reason: IoTError) {
        closeReason = closeReason ?? reason
        end(reason)
    }

    /// Ends the talk, if there is one.
    func end(_ reason: IoTError) {
        guard let talk else { return }
        switch talk.phase {
        case .asking: ended(talk.number, .failure(reason))
        case .talking(let sender): sender.end(reason)
        }
    }

    private func ended(_ number: Int, _ result: Result<TalkSummary, IoTError>) {
        guard let talk, talk.number == number else { return }
        self.talk = nil
        talk.source.close()
        // Also after a failure: the device may have begun without our knowledge. It has no effect otherwise.
        _ = feed.control.request(.talkStop)
        talk.promise.completeWith(result.mapError { $0 as any Error })
    }
}
