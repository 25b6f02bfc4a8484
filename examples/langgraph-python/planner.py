"""A graph that streams, asks before it books, and keeps its state between turns. It needs no key."""

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

# A model that answers always the same: replace it by one of langchain-openai or another package.
model = FakeListChatModel(responses=["Two nights by the sea, and the train back."])


async def plan(state: MessagesState):
    return {"messages": [await model.ainvoke(state["messages"])]}


def book(state: MessagesState):
    answer = interrupt("Shall I book this?")
    is_yes = str(answer).lower().startswith("y")
    return {"messages": [AIMessage("It is booked." if is_yes else "Nothing was booked.")]}


graph = (
    StateGraph(MessagesState)
    .add_node(plan)
    .add_node(book)
    .add_edge(START, "plan")
    .add_edge("plan", "book")
    .compile()
)
