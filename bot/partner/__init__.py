"""Typed async client of the Card Issuing Partner API; it knows nothing of requests, approvals or Slack.

    client      PartnerClient: one method per endpoint, in the order of the API document
    calls       those methods and the endpoints they call, by the chapters of the document
    models      what the API answers, as frozen values with exact decimals
    errors      the tree of what can go wrong
    answers     what an answer means: the rows from which certainty and retrying are drawn
    certainty   how certain it is that nothing happened, in four words
    endpoints   what an endpoint is: path, who waits how long, whether it changes anything, what its answers mean
    retrying    pure: may this call be sent again by itself, and when
    ratelimit   one rolling-minute budget for everybody who uses a key
    pages       walking lists page by page
    wire        one HTTP exchange: bytes out, an answer or an error in
    codec       JSON with exact numbers, both ways
    access      which key may go to which address
    loopback    which hosts are this machine
    redaction   what may stand in a log line or an error message
    webhooks    is this delivery genuine, and what does it say; sans-I/O
    shapes      the form of what goes out and comes back, worked out from the models
    known       what the client knows of the API beside its endpoints: version, events
    described   what the card provider publishes of itself: fetching and reading it
    drift       where the two part ways

Source of every fact: the API document, cited in square brackets by its headings.
"""
