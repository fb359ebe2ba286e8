"""Names of people that are also words people write every day: a holder called Will, May or Chase."""

from __future__ import annotations

from typing import Final

from bot.intents.plain_text import word_set

#: Given names and surnames that are also words people write every day.
ORDINARY: Final = word_set(
    """
    january february march april may june july august september october november december jan feb mar apr jun
    jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri
    sat sun spring summer autumn winter day week month year today easter noel
    will mark chase bill grant rose drew penny hope faith grace joy dawn eve summer art rob pat sue jack bob
    dean earl duke king queen prince knight page cook baker miller turner hunter carter cooper mason taylor
    smith potter porter ward wood woods hill lane field fields forest brook brooks rivers lake stone banks
    ford bridge bush moss reed rice berry olive ivy lily daisy violet iris heather holly jasmine ginger pepper
    sage basil rosemary ruby pearl amber crystal jade coral opal gene guy gay hank harry jay josh lance
    max miles min nick park norm ray red rich rusty sandy sonny star sky stormy sunny tab ted tad trip van victor
    wade walker west north east south young old long short little small big black white brown green gray grey
    blue gold golden silver steel price cash money fee cost pay charge buck bucks dollar pound penny
    cards card float load fund freeze frost winter snow close cross drive farmer fisher fish fox wolf bear
    bird crane drake finch hawk robin jay love loving good goodman best better strong sharp wise power powers
    bell ball ring wells waters case chance chip christian clay cliff clement colt curt dale dane dash dot
    ernest flora frank gill glen hazel honor jean jimmy job jobs john josh june kit lance les lux mac major marina
    melody mercy merit mike misty neat neil noble paris patience piers pierce prudence queen raven
    rich river rock rocky roman rod royal scout shade skip sterling storm teal terry tiger true trinity
    unity use victory wren worth wright can could would should shall must be do does did done has have had
    is are was were am been being it its he she they we you i me us him her them this that these those
    the a an and or but if so as of to in on at by for from with about into over under up down out off
    all any both each few more most much many no none not nothing now only other own same some such
    than then there too very what when where which who why how again once here just still
    add ask back ban block book buy call cancel change check clear come cut deal drop end find fix
    fit get give go going hold keep kill know last late leave left let lift like limit list live lock look lose lost
    make may mean meet might move need new next number off ok open order owe pass pause pick pin plan please
    point post pull push put raise reach read ready refund reject remove report request reset return review
    right run said save say see seen sell send sent set share shop show shut sign sold sort stand start
    state stay stop sum support swap switch take talk team tell test thank thanks think ticket time
    top total track trade transfer travel true try turn type undo unit update view wait want watch
    well went win wing wish word work working works write yes yet
    account address alert amount approval balance bank base body branch code daily date debit deposit email
    employee finance holder hour hours invoice ledger level merchant name network office ops partner payment
    payments phone policy polygon program purchase queue rate rates reason reference shift status
    transaction transactions user virtual wallet webhook weekly monthly
    """
)
